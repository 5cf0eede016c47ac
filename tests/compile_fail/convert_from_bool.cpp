// SPDX-License-Identifier: Apache-2.0
// A bool or a character is not a number to quantize.
// EXPECT-ERROR: (no matching function for call|no matching function)
#include <ofp8/core/convert.hpp>

using namespace ofp8;

e4m3 from_an_integer(int x) { return convert<e4m3>(x); }

#ifdef OFP8_BREAK
e4m3 from_a_bool(bool x) { return convert<e4m3>(x); }
#endif
