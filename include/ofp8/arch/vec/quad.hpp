// SPDX-License-Identifier: Apache-2.0
// ofp8: quad, four vectors: what becomes one vector of codes (four numbers of 32 bits stand where four codes
// will). Written out instead of looped over, so that no compiler keeps it in memory.
#pragma once

namespace ofp8::detail {

template <class V>
struct quad {
  V a, b, c, d;
};

}  // namespace ofp8::detail
