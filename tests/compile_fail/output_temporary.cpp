// SPDX-License-Identifier: Apache-2.0
// A result written to a temporary matrix would be lost.
// EXPECT-ERROR: constraints not satisfied|no matching function
#include <ofp8/tensor/matrix.hpp>

using namespace ofp8;

template <output_matrix D>
void fill(D&& d) {
  as_view(d)(0, 0) = 1.0f;
}

int main() {
  matrix<float> m(1, 1);
  fill(m);
  fill(m.view());
#ifdef OFP8_BREAK
  fill(matrix<float>(1, 1));
#endif
  return static_cast<int>(m(0, 0)) - 1;
}
