// SPDX-License-Identifier: Apache-2.0
// An FP8 value is not compared with a float in silence.
// EXPECT-ERROR: (no match for .operator==|invalid operands to binary expression)
#include <ofp8/core/convert.hpp>

using namespace ofp8;

bool as_floats(e4m3 a, float b) { return float(a) == b; }

#ifdef OFP8_BREAK
bool mixed(e4m3 a, float b) { return a == b; }
#endif
