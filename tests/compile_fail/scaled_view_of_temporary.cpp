// SPDX-License-Identifier: Apache-2.0
// The memory of a temporary scaled_matrix is gone when its view is used.
// EXPECT-ERROR: deleted
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/scaled_matrix.hpp>

using namespace ofp8;

using weight = scaled_matrix<e4m3, per_channel>;
weight make() { return weight(2, 2); }

int main() {
  const weight m = make();
  const auto v = m.codes();
#ifdef OFP8_BREAK
  const auto w = make().codes();
#endif
  return static_cast<int>(v.rows()) - 2;
}
