// SPDX-License-Identifier: Apache-2.0
// Codes of two formats are not compared: the same byte means two numbers.
// EXPECT-ERROR: no match for .operator==.|invalid operands to binary expression
#include <ofp8/core/convert.hpp>

int main() {
  const auto one = ofp8::e4m3::from_bits(0x38);
  const auto other = ofp8::e5m2::from_bits(0x3c);
#ifdef OFP8_BREAK
  return one == other ? 0 : 1;
#else
  return static_cast<float>(one) == static_cast<float>(other) ? 0 : 1;
#endif
}
