// SPDX-License-Identifier: Apache-2.0
// The direction of an e8m0 scale is always said: the libraries disagree.
// EXPECT-ERROR: (too few arguments|no matching function)
#include <ofp8/core/e8m0.hpp>

using namespace ofp8;

e8m0 with_direction(float x) { return convert_e8m0(x, e8m0_rounding::up); }

#ifdef OFP8_BREAK
e8m0 without_direction(float x) { return convert_e8m0(x); }
#endif
