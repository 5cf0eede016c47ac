// SPDX-License-Identifier: Apache-2.0
// A CUDA file which uses the library in its host code.
#include <ofp8/ofp8.hpp>

#include <vector>

static_assert(ofp8::convert<ofp8::e4m3>(0.3f).bits() == 0x2a);

int main() {
  const std::vector<float> in{0.3f, 1e9f};
  std::vector<ofp8::e4m3> codes(in.size());
  ofp8::encode(in, codes);
  return codes[0] == ofp8::convert<ofp8::e4m3>(0.3f) ? 0 : 1;
}
