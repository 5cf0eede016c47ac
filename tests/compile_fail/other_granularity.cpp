// SPDX-License-Identifier: Apache-2.0
// Scales of one geometry are not scales of another.
// EXPECT-ERROR: (conversion from .* to non-scalar type|no viable conversion from)
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/scaled_matrix.hpp>

using namespace ofp8;

int main() {
  const scaled_matrix<e4m3, per_group<128>> x(2, 256);
  const scaled_view<const e4m3, per_group<128>> v = x;
#ifdef OFP8_BREAK
  const scaled_view<const e4m3, per_group<64>> w = x;
#endif
  return static_cast<int>(v.rows()) - 2;
}
