// SPDX-License-Identifier: Apache-2.0
// A policy whose NaN code is a number of the format is refused: 7e is 448 in E4M3.
// EXPECT-ERROR: the policy's NaN code is not a NaN of this format
#include <ofp8/core/convert.hpp>

using namespace ofp8;

constexpr policy arm_nan{.nan_code = nan_code::code_7e};
e5m2 fits(float x) { return convert<e5m2, arm_nan>(x); }

#ifdef OFP8_BREAK
e4m3 does_not_fit(float x) { return convert<e4m3, arm_nan>(x); }
#endif
