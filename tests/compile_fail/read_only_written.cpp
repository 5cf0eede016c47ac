// SPDX-License-Identifier: Apache-2.0
// What is read-only stays read-only.
// EXPECT-ERROR: (conversion from .* to non-scalar type|no viable conversion from)
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/scaled_matrix.hpp>

using namespace ofp8;

int main() {
  scaled_matrix<e4m3, per_tensor> x(2, 2);
  const scaled_matrix<e4m3, per_tensor>& read_only = x;
  const scaled_view<e4m3, per_tensor> v = x;
#ifdef OFP8_BREAK
  const scaled_view<e4m3, per_tensor> w = read_only;
#endif
  return static_cast<int>(v.rows() + read_only.rows()) - 4;
}
