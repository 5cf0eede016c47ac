// SPDX-License-Identifier: Apache-2.0
// Random bits are refused where the policy would not use them.
// EXPECT-ERROR: a policy with rounding_mode::stochastic is needed
#include <ofp8/core/convert.hpp>

using namespace ofp8;

constexpr policy random_rounding{.rounding = rounding_mode::stochastic};
e4m3 used(float x, unsigned bits) { return convert<e4m3, random_rounding>(x, bits, 8); }

#ifdef OFP8_BREAK
e4m3 unused(float x, unsigned bits) { return convert<e4m3, saturating>(x, bits, 8); }
#endif
