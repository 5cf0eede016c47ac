// SPDX-License-Identifier: Apache-2.0
// Scales are float, bf16, fp16 or e8m0; a double one would not survive a checkpoint.
// EXPECT-ERROR: constraints? not satisfied
#include <ofp8/scale/granularity.hpp>

using namespace ofp8;

int main() {
  using good = scale_block<1, 128, bf16>;
#ifdef OFP8_BREAK
  using bad = scale_block<1, 128, double>;
  static_assert(bad::rows == 1);
#endif
  return static_cast<int>(good::rows) - 1;
}
