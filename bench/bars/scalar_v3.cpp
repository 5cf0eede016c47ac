// SPDX-License-Identifier: Apache-2.0
// The scalar backend, vectorized by the compiler for AVX2: this file is compiled with -O3 -march=x86-64-v3.
#include <ofp8/ops/encode.hpp>
#include <ofp8/ops/gemm.hpp>
#include <ofp8/ops/pack.hpp>
#include <ofp8/ops/quantize.hpp>

#include <limits>

#include "bars/bars.hpp"
#include "ceilings/ceilings.hpp"
#include "ceilings/cpu.hpp"
#include "ceilings/timing.hpp"
#include "harness/samples.hpp"
#include "peers/float_gemm.hpp"

namespace ofp8::bench {
namespace {

// Peak floating-point operations of one core, 256-bit FMA, in the time in which one element is encoded.
double fma_flops_per_encoded_element() {
  const std::size_t n = working_set(memory_level::l2) / (sizeof(float) + sizeof(e4m3));
  const buffer<float> in = normal_buffer<float>(n);
  buffer<e4m3> codes(n);
  const pinned here(0);
  const double seconds = median_seconds([&] { encode(in, codes, {.isa = isa::scalar}); });
  return flops(arithmetic::fma_ymm).value() * seconds / static_cast<double>(n);
}

// W8A8, per token x per channel, 512^3, weights packed, against a float loop over the same numbers.
double gemm_time_over_float_loop() {
  constexpr std::ptrdiff_t size = 512;
  const matrix<float> a = normal_matrix<float>(size, size), w = normal_matrix<float>(size, size);
  const auto aq = quantize<e4m3, per_token>(a);
  const auto wq = pack(quantize<e4m3, per_channel>(w));
  matrix<float> d(size, size);
  const pinned here(0);
  const double ours = median_seconds([&] { gemm_nt(aq, wq, d, {}, {.isa = isa::scalar}); });
  const double loop = median_seconds([&] { float_ikj_loop(a, w, d); });
  return ours / loop;
}

constexpr bar bars[] = {
    {"encode float -> e4m3, in L2: ymm FMA flops per element", "flops", fma_flops_per_encoded_element,
     bar::sense::at_most, 80},
    {"W8A8 GEMM 512^3: time over an ikj float loop's", "times", gemm_time_over_float_loop,
     bar::sense::at_most, 3},
};

}  // namespace

std::span<const bar> scalar_v3_bars() { return bars; }

}  // namespace ofp8::bench
