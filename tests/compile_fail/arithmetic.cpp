// SPDX-License-Identifier: Apache-2.0
// float8 has no arithmetic: a sum of two codes would round to three bits in silence.
// EXPECT-ERROR: no match for .operator\+.|invalid operands to binary expression
#include <ofp8/core/convert.hpp>

int main() {
  const ofp8::e4m3 code = ofp8::convert<ofp8::e4m3>(0.5f);
#ifdef OFP8_BREAK
  const auto sum = code + code;
#else
  const auto sum = static_cast<float>(code) + static_cast<float>(code);
#endif
  return sum == sum ? 0 : 1;
}
