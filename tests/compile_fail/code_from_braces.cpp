// SPDX-License-Identifier: Apache-2.0
// A bare number in braces is neither a value nor a code: from_bits says which.
// EXPECT-ERROR: no matching (function for call to|constructor for initialization)|could not convert
#include <ofp8/core/convert.hpp>

int main() {
#ifdef OFP8_BREAK
  const ofp8::e4m3 code{0x38};
#else
  const auto code = ofp8::e4m3::from_bits(0x38);
#endif
  return static_cast<float>(code) == 1.0f ? 0 : 1;
}
