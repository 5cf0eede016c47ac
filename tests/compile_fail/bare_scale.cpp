// SPDX-License-Identifier: Apache-2.0
// A bare number is no scale: it must be a static_scale, in so many words.
// EXPECT-ERROR: (could not convert|no viable conversion|no known conversion|conversion from).*(float|static_scale)
#include <ofp8/scale/static_scale.hpp>

using namespace ofp8;

float first(static_scale s) { return s(0, 0); }

int main() {
  float s = first(static_scale(0.25f));
#ifdef OFP8_BREAK
  s = first(0.25f);
#endif
  return s == 0.25f ? 0 : 1;
}
