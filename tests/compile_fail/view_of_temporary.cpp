// SPDX-License-Identifier: Apache-2.0
// The memory of a temporary matrix is gone when its view is used.
// EXPECT-ERROR: deleted
#include <ofp8/tensor/matrix.hpp>

using namespace ofp8;

matrix<float> make() { return matrix<float>(2, 2); }

int main() {
  const matrix<float> m = make();
  const matrix_view<const float> v = m.view();
#ifdef OFP8_BREAK
  const matrix_view<const float> w = make().view();
#endif
  return static_cast<int>(v.rows()) - 2;
}
