// SPDX-License-Identifier: Apache-2.0
// Stochastic rounding takes the caller's bits.
// EXPECT-ERROR: stochastic rounding takes its bits
#include <ofp8/core/convert.hpp>

using namespace ofp8;

constexpr policy random_rounding{.rounding = rounding_mode::stochastic};
e4m3 with_bits(float x, unsigned bits) { return convert<e4m3, random_rounding>(x, bits, 32); }

#ifdef OFP8_BREAK
e4m3 without_bits(float x) { return convert<e4m3, random_rounding>(x); }
#endif
