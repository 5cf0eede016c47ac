// SPDX-License-Identifier: Apache-2.0
// A float8 does not become a float in silence.
// EXPECT-ERROR: cannot convert|no viable conversion from
#include <ofp8/core/convert.hpp>

int main() {
  const ofp8::e4m3 code = ofp8::convert<ofp8::e4m3>(0.5f);
#ifdef OFP8_BREAK
  const float value = code;
#else
  const float value = static_cast<float>(code);
#endif
  return value > 0.0f ? 0 : 1;
}
