// SPDX-License-Identifier: Apache-2.0
// An MX view has e8m0 scales; float scales are other numbers.
// EXPECT-ERROR: no matching (function for call to|constructor for initialization of) .*scaled_view
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>

using namespace ofp8;

int main() {
  const matrix<e4m3> codes(2, 32);
  const matrix<e8m0> powers(2, 1);
  const matrix<float> floats(2, 1);
  scaled_view<const e4m3, mx<32>> v{codes.view(), powers.view()};
#ifdef OFP8_BREAK
  scaled_view<const e4m3, mx<32>> w{codes.view(), floats.view()};
#endif
  return static_cast<int>(v.rows()) - 2;
}
