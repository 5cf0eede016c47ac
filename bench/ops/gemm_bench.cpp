// SPDX-License-Identifier: Apache-2.0
// gemm_nt with packed weights: cubes, and few tokens against one linear layer of 4096 x 4096.
#include <ofp8/ops/gemm.hpp>

#include <string>

#include <ofp8/ops/pack.hpp>
#include <ofp8/ops/quantize.hpp>

#include "harness/measurement.hpp"
#include "harness/runners.hpp"
#include "harness/samples.hpp"
#include "peers/float_gemm.hpp"

namespace ofp8::bench {
namespace {

struct shape {
  std::ptrdiff_t m, n, k;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n * k); }
  std::string text() const { return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k); }
};

constexpr shape shapes[] = {{512, 512, 512},   {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
                            {512, 4096, 4096}, {128, 4096, 4096},  {64, 4096, 4096},   {32, 4096, 4096},
                            {16, 4096, 4096},  {8, 4096, 4096},    {4, 4096, 4096},    {2, 4096, 4096},
                            {1, 4096, 4096}};

// The scalar backend gets what it finishes in a fraction of a second.
bool is_quick(const shape& s, isa who) { return who != isa::scalar || s.flops() < 5e9; }

constexpr std::ptrdiff_t few_tokens = 16;  // up to here the weights' way from memory is a bound, too

// The counters of one product: m x n x k, weights of `weight_bytes` in all.
void report(measurement& m, const shape& s, std::size_t weight_bytes) {
  m.flops(s.flops());
  if (s.m <= few_tokens) m.bytes(weight_bytes, traffic::read);
}

// The operands of the kinds of products. Each gives activations and packed weights.
template <class A, class W>
struct w8a8 {
  static auto activations(const shape& s) { return quantize<e4m3, A>(normal_matrix<float>(s.m, s.k)); }
  static auto weights(const shape& s) { return pack(quantize<e4m3, W>(normal_matrix<float>(s.n, s.k))); }
  using output = float;
};
struct w8a16 {
  static auto activations(const shape& s) { return normal_matrix<bf16>(s.m, s.k); }
  static auto weights(const shape& s) {
    return pack(quantize<e4m3, per_channel>(normal_matrix<float>(s.n, s.k)));
  }
  using output = bf16;
};

template <class Kind>
void multiply(benchmark::State& state, const runner& who, const shape& s) {
  const auto a = Kind::activations(s);
  const auto w = Kind::weights(s);
  matrix<typename Kind::output> d(s.m, s.n);
  measurement m(state, who.threads, [&] { gemm_nt(a, w, d, {}, who.how); });
  report(m, s, static_cast<std::size_t>(s.n * s.k));
}

template <class Kind>
void add(const std::string& kind) {
  for (const shape& s : shapes)
    register_for_runners(
        "gemm/" + kind + "/" + s.text(),
        [s](benchmark::State& state, const runner& who) { multiply<Kind>(state, who, s); },
        [s](const runner& who) { return is_quick(s, who.how.isa); });
}

void add_peer() {
  for (const shape& s : shapes) {
    if (!is_quick(s, isa::scalar)) continue;
    register_peer("gemm/f32/" + s.text(), "ikj_loop", [s](benchmark::State& state, const runner& who) {
      const matrix<float> a = normal_matrix<float>(s.m, s.k), b = normal_matrix<float>(s.k, s.n);
      matrix<float> d(s.m, s.n);
      measurement m(state, who.threads, [&] { float_ikj_loop(a, b, d); });
      report(m, s, static_cast<std::size_t>(s.n * s.k) * sizeof(float));
    });
  }
}

const at_start registered([] {
  add<w8a8<per_token, per_channel>>("w8a8_per_token_x_per_channel");
  add<w8a8<per_group<128>, block_wise<128, 128>>>("w8a8_1x128_x_128x128");
  add<w8a16>("w8a16_bf16_x_per_channel");
  add_peer();
});

}  // namespace
}  // namespace ofp8::bench
