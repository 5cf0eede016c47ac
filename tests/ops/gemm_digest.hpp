// SPDX-License-Identifier: Apache-2.0
// One number for the bits of many products, computed by any `multiply(a, b, d, options)`. Files compiled with
// other flags compare theirs with the literal.
#pragma once

#include "tests/ops/digest.hpp"
#include "tests/ops/gemm_cases.hpp"

namespace ofp8::test {

template <class Out, class A, class B, class F>
void add_product(digest& sum, const A& a, const B& b, random_source& random, F multiply) {
  const auto bias = random_bias(b.rows(), random, content::special);
  const auto c = random_matrix<typename Out::addend>(a.rows(), b.rows(), random, content::special);
  Out d(a.rows(), b.rows(), 0);
  for (unsigned terms = 0; terms < 4; ++terms) {
    gemm_options<typename Out::addend> options;
    if (terms & 1) options.bias = bias;
    if (terms & 2) options.addend = c.view();
    multiply(a, b, d.operand(), options);
    for (std::ptrdiff_t r = 0; r < a.rows(); ++r)
      for (std::ptrdiff_t n = 0; n < b.rows(); ++n) sum.add(d.cells.view()(r, n));
  }
}

/// Products of every kind, with every kind of special number; subnormal sums among them.
template <class F>
std::uint64_t gemm_digest(F multiply) {
  random_source random(31);
  digest sum;
  for (const content what : {content::ordinary, content::special}) {
    const auto token = random_scaled<e4m3, per_token>(7, 301, random, what);
    const auto channel = random_scaled<e5m2, per_channel>(67, 301, random, what);
    const auto group = random_scaled<e5m2, per_group<64>>(7, 301, random, what);
    const auto block = random_scaled<e4m3, block_wise<24, 48>>(67, 301, random, what);
    add_product<plain_output<float>>(sum, token, channel, random, multiply);
    add_product<plain_output<bf16>>(sum, token, block, random, multiply);
    add_product<plain_output<fp16>>(sum, group, channel, random, multiply);
    add_product<plain_output<float>>(sum, group, block, random, multiply);
    add_product<fp8_output<e4m3>>(sum, group, block, random, multiply);
    add_product<fp8_output<e5m2>>(sum, token, channel, random, multiply);
    add_product<plain_output<float>>(sum, random_matrix<float>(7, 301, random, what), block, random,
                                     multiply);
    add_product<plain_output<bf16>>(sum, random_matrix<bf16>(7, 301, random, what), channel, random,
                                    multiply);
    add_product<plain_output<fp16>>(sum, random_matrix<fp16>(7, 301, random, what), channel, random,
                                    multiply);
  }
  // alpha and the sums are subnormal: what flush-to-zero loses.
  auto tiny_a = random_scaled<e4m3, per_group<64>>(7, 301, random, content::ordinary);
  auto tiny_b = random_scaled<e4m3, per_channel>(67, 301, random, content::ordinary);
  for (std::ptrdiff_t r = 0; r < 7; ++r)
    for (std::ptrdiff_t g = 0; g < 5; ++g) tiny_a.scales()(r, g) *= 0x1p-70f;
  for (std::ptrdiff_t n = 0; n < 67; ++n) tiny_b.scales()(n, 0) *= 0x1p-64f;
  add_product<plain_output<float>>(sum, tiny_a, tiny_b, random, multiply);
  return sum.value();
}

inline constexpr std::uint64_t expected_gemm_digest = 0x8358'7dc9'f56a'7b44;

inline constexpr auto by_reference = [](const auto& a, const auto& b, auto d, const auto& options) {
  reference::gemm_nt(a, b, d, options);
};
inline auto by_isa(isa i) {
  return [i](const auto& a, const auto& b, auto d, const auto& options) {
    gemm_nt(a, b, d, options, {.isa = i});
  };
}

}  // namespace ofp8::test
