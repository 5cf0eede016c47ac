// SPDX-License-Identifier: Apache-2.0
// A float does not become a bf16 in silence.
// EXPECT-ERROR: (could not convert|conversion from|no viable conversion)
#include <ofp8/core/convert.hpp>

using namespace ofp8;

bf16 explicit_conversion(float x) { return convert<bf16>(x); }

#ifdef OFP8_BREAK
bf16 implicit_conversion(float x) { return x; }
#endif
