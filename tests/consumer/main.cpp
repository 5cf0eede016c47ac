// SPDX-License-Identifier: Apache-2.0
// A user's file: it must build under the strictest flags and with any optimization.
#include <ofp8/ofp8.hpp>

#include <cstdio>
#include <vector>

using namespace ofp8;

int main() {
  const std::vector<float> in{0.3f, -1e9f, 0.0f, 448.0f};
  std::vector<e4m3> codes(in.size());
  std::vector<float> out(in.size());
  encode(in, codes);
  decode(codes, out);
  if (out[0] != 0.3125f || out[1] != -448.0f || out[2] != 0.0f || out[3] != 448.0f) return 1;

  matrix<float> a(2, 4), w(3, 4), d(2, 3);
  for (std::ptrdiff_t k = 0; k < 4; ++k) {
    for (std::ptrdiff_t m = 0; m < 2; ++m) a(m, k) = 1.0f;
    for (std::ptrdiff_t n = 0; n < 3; ++n) w(n, k) = 2.0f;
  }
  const std::vector<float> bias{0.0f, 1.0f, 2.0f};
  const auto aq = quantize<e4m3, per_token>(a);
  const auto wq = quantize<e4m3, per_channel>(w, recipes::vllm_token_cuda);
  gemm_nt(aq, pack(wq), d, {.bias = bias});
  gemm_nt(a, wq, d, {.bias = bias});
  const matrix<float> back = dequantize(wq);
  std::printf("ofp8 %d.%d.%d: %g %g\n", OFP8_VERSION_MAJOR, OFP8_VERSION_MINOR, OFP8_VERSION_PATCH,
              static_cast<double>(d(1, 2)), static_cast<double>(back(0, 0)));
  return d(1, 0) > 7.9f && d(1, 0) < 8.1f ? 0 : 1;
}
