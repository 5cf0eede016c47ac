// SPDX-License-Identifier: Apache-2.0
// Codes and scales in the wrong order.
// EXPECT-ERROR: no matching (function for call to|constructor for initialization of) .*scaled_view
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>

using namespace ofp8;

int main() {
  const matrix<e4m3> codes(2, 3);
  const matrix<float> scales(2, 1);
  scaled_view<const e4m3, per_channel> v{codes.view(), scales.view()};
#ifdef OFP8_BREAK
  scaled_view<const e4m3, per_channel> w{scales.view(), codes.view()};
#endif
  return static_cast<int>(v.rows()) - 2;
}
