// SPDX-License-Identifier: Apache-2.0
// Recipes with arithmetic on paper. Floats are written by their bits where the last one matters.
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/reference/quantize.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "paper.hpp"
#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"

using namespace ofp8;
using namespace ofp8::test;

TEST_CASE("default: the scale is amax over the largest number of the format, by one true division") {
  CHECK(scale_of<e4m3>({}, 448.0f) == bits(1.0f));
  CHECK(scale_of<e5m2>({}, 57344.0f) == bits(1.0f));
  CHECK(scale_of<e4m3fnuz>({}, 240.0f) == bits(1.0f));
  CHECK(scale_of<e5m2fnuz>({}, 57344.0f) == bits(1.0f));
  // fl(amax / 448) = 3b55370a; a product with fl(1 / 448) and 1 / fl(448 / amax) are both 3b55370b.
  CHECK(scale_of<e4m3>({}, awkward) == 0x3b55370a);
  CHECK(scale_of<e4m3>({.rule = scale_rule::amax_times_reciprocal}, awkward) == 0x3b55370b);
}

TEST_CASE("default: NaN and infinity are left out of the amax; NaN stays NaN, infinity saturates") {
  CHECK(quantized({448.0f, not_a_number, inf, -inf, 1.0f}, {}) ==
        group{bits(1.0f), {0x7e, 0x7f, 0x7e, 0xfe, 0x38}});
  CHECK(quantized({not_a_number, inf}, {}) == group{bits(1.0f), {0x7f, 0x7e}});  // nothing finite: 1
  CHECK(quantized<e5m2>({57344.0f, -inf, not_a_number}, {}) == group{bits(1.0f), {0x7b, 0xfb, 0x7f}});
}

TEST_CASE("default: an all-zero group gets the scale 1 and keeps its signs") {
  CHECK(quantized({0.0f, -0.0f}, {}) == group{bits(1.0f), {0x00, 0x80}});
}

TEST_CASE("default: a scale below the smallest normal float becomes the smallest normal float") {
  // 2^-120 / 448 = 2^-128.8 -> 2^-126; then 2^-120 / 2^-126 = 64 = code 68.
  CHECK(quantized({0x1p-120f}, {}) == group{bits(0x1p-126f), {0x68}});
  CHECK(scale_of<e4m3>({}, 448 * 0x1p-126f) == bits(0x1p-126f));
  CHECK(scale_of<e4m3>({}, 0x1p-149f) == bits(0x1p-126f));
  CHECK(scale_of<e4m3, bf16>({}, 0x1p-149f) == bits(0x1p-126f));
  CHECK(scale_of<e4m3, fp16>({}, 1e-6f) == bits(0x1p-14f));  // of the type that stores it
}

TEST_CASE("default: elements are divided by the stored scale, not multiplied by its reciprocal") {
  // amax 3fe19699, s = 3b80e857, 1/s = 437e3298; x = 3de9a51e: x / s = 29 exactly, a tie, to even 28 = code 5e;
  // x * fl(1/s) = 41e80001 is above it and becomes 30 = code 5f.
  const std::vector<float> x{from(0x3fe19699), from(0x3de9a51e)};
  CHECK(quantized(x, {}) == group{0x3b80e857, {0x7e, 0x5e}});
  CHECK(quantized(x, {.apply = apply_rule::multiply_reciprocal}) == group{0x3b80e857, {0x7e, 0x5f}});
  // With a bf16 grid the scale is bf16(3b80e857) = 3b810000, and x / s = 28.98.
  CHECK(quantized<e4m3, scale_block<whole, whole, bf16>>(x, {}) == group{0x3b810000, {0x7e, 0x5e}});
}

TEST_CASE("default: an e8m0 scale is the next power of two up, codes 01 to fe, so that nothing saturates") {
  CHECK(scale_of<e4m3, e8m0>({}, 448.0f) == bits(1.0f));
  CHECK(scale_of<e4m3, e8m0>({}, from(bits(448.0f) + 1)) == bits(2.0f));
  CHECK(scale_of<e4m3, e8m0>({}, from(bits(448.0f) - 1)) == bits(1.0f));
  CHECK(scale_of<e4m3, e8m0>({}, 224.0f) == bits(0.5f));
  CHECK(scale_of<e5m2, e8m0>({}, 57345.0f) == bits(2.0f));
  CHECK(scale_of<e4m3, e8m0>({}, 0.0f) == bits(1.0f));
  CHECK(scale_of<e4m3, e8m0>({}, 0x1p-140f) == bits(0x1p-126f));
  CHECK(scale_of<e4m3, e8m0>({}, std::numeric_limits<float>::max()) == bits(0x1p120f));
  CHECK(quantized<e4m3, mx<32>>({448.5f, 1.0f, not_a_number, inf}, {}) ==
        group{bits(2.0f), {0x76, 0x30, 0x7f, 0x7e}});
}

TEST_CASE("vllm_token_cuda: s = max(min(amax, scale_ub) / 448, 1 / (448 * 512)), then a division") {
  const recipe& r = recipes::vllm_token_cuda;
  CHECK(scale_of<e4m3>(r, awkward) == 0x3b55370a);
  CHECK(quantized({from(0x3fe19699), from(0x3de9a51e)}, r) == group{0x3b80e857, {0x7e, 0x5e}});
  // 1 / 229376 = 4.3596540e-6 = 36924925. Zero rows get it too.
  CHECK(quantized({0.0f, -0.0f}, r) == group{0x36924925, {0x00, 0x80}});
  CHECK(scale_of<e4m3>(r, 1.0f / 1024) == 0x36924925);
  CHECK(scale_of<e4m3>(r, 1.0f / 256) == 0x37124925);  // 1 / (448 * 256)
  CHECK(scale_of<e5m2>(r, 0.0f) == bits(1.0f / (57344.0f * 512.0f)));
  // scale_ub = 2: s = 2 / 448 = 3b924925, and what is beyond 2 saturates.
  recipe bounded = r;
  bounded.amax_ceiling = 2.0f;
  CHECK(quantized({-3.0f, 1.0f}, bounded) == group{0x3b924925, {0xfe, 0x76}});
}

TEST_CASE("vllm_token_cuda: NaN does not count and becomes +448, one infinity makes the scale infinite") {
  const recipe& r = recipes::vllm_token_cuda;
  CHECK(quantized({448.0f, not_a_number, -not_a_number}, r) == group{bits(1.0f), {0x7e, 0x7e, 0x7e}});
  // x / Inf = 0 with x's sign; Inf / Inf = NaN -> +448.
  CHECK(quantized({448.0f, -1.0f, -inf}, r) == group{bits(inf), {0x00, 0x80, 0x7e}});
}

TEST_CASE("vllm_tensor_static: the elements times the reciprocal of the given scale") {
  matrix<float> x(1, 4);
  x(0, 0) = from(0x3de9a51e);
  x(0, 1) = 1e9f;
  x(0, 2) = -inf;
  x(0, 3) = not_a_number;
  const auto q =
      reference::quantize<e4m3, per_tensor>(x, static_scale(from(0x3b80e857)), recipes::vllm_tensor_static);
  CHECK(bits(q.scale_at(0, 0)) == 0x3b80e857);
  CHECK(q.codes()(0, 0).bits() == 0x5f);  // 41e80001: above the tie that a division meets
  CHECK(q.codes()(0, 1).bits() == 0x7e);
  CHECK(q.codes()(0, 2).bits() == 0xfe);
  CHECK(q.codes()(0, 3).bits() == 0x7e);
  CHECK(bits(static_scale_step(recipes::vllm_tensor_static, from(0x3b80e857)).operand) == 0x437e3298);
  CHECK_FALSE(static_scale_step(recipes::vllm_tensor_static, 0.5f).divide);
}

TEST_CASE("deepseek_v3: amax is at least 1e-4, then a division and a cast that keeps NaN") {
  const recipe& r = recipes::deepseek_v3;
  CHECK(scale_of<e4m3>(r, awkward) == 0x3b55370a);
  // fl(1e-4) = 38d1b717, over 448 = 346facad.
  CHECK(quantized({0.0f, -0.0f}, r) == group{0x346facad, {0x00, 0x80}});
  CHECK(scale_of<e4m3>(r, 9e-5f) == 0x346facad);
  CHECK(quantized({448.0f, not_a_number}, r) == group{bits(1.0f), {0x7f - 1, 0x7f}});
  // "ue8m0": the next power of two. 448.1 / 448 -> 2.
  CHECK(scale_of<e4m3>(recipes::deepseek_v3_ue8m0, 448.1f) == bits(2.0f));
  CHECK(scale_of<e4m3>(recipes::deepseek_v3_ue8m0, 448.0f) == bits(1.0f));
  CHECK(quantized({448.1f, 448.0f}, recipes::deepseek_v3_ue8m0) == group{bits(2.0f), {0x76, 0x76}});
  CHECK(quantized({448.0f, 0.0f}, recipes::deepseek_v3_ue8m0) == group{bits(1.0f), {0x7e, 0x00}});
}

TEST_CASE("llm_compressor: scale and quotient are rounded to the input's type, -0 loses its sign") {
  const recipe& r = recipes::llm_compressor;
  // bf16: amax 3fa4, s = bf16(amax / 448) = 3b3b; x = 3eb5: x / s = 123.893, in bf16 124, a tie, to even 128 =
  // code 70. One rounding would give 120 = code 6f.
  CHECK(quantized<e4m3, per_tensor, bf16>({from(0x3fa40000), from(0x3eb50000)}, r) ==
        group{0x3b3b0000, {0x7e, 0x70}});
  // float: nothing is rounded on the way.
  CHECK(quantized({from(0x3fa40000), from(0x3eb50000)}, r).codes[1] == 0x6f);
  // -0 + 0 = +0, but what underflows in the code keeps its sign: -2^-11 / 1 -> 80.
  CHECK(quantized({448.0f, -0.0f, -0x1p-11f}, r) == group{bits(1.0f), {0x7e, 0x00, 0x80}});
}

TEST_CASE(
    "llm_compressor: a scale of zero becomes the epsilon of the input's type, NaN and infinity spread") {
  const recipe& r = recipes::llm_compressor;
  CHECK(quantized({0.0f, -0.0f}, r) == group{bits(0x1p-23f), {0x00, 0x00}});
  CHECK(quantized<e4m3, per_tensor, bf16>({0.0f}, r).scale == bits(0x1p-7f));
  CHECK(quantized<e4m3, per_tensor, fp16>({0.0f}, r).scale == bits(0x1p-10f));
  // 2^-24 / 448 is no fp16: its scale rounds to zero.
  CHECK(quantized<e4m3, per_tensor, fp16>({0x1p-24f}, r).scale == bits(0x1p-10f));
  CHECK(quantized({1.0f, not_a_number}, r) == group{0x7fc00000, {0x7f, 0x7f}});
  CHECK(quantized({1.0f, inf}, r) == group{bits(inf), {0x00, 0x7f}});
}

TEST_CASE("ocp_mx: the exponent of amax minus 8, so that E4M3 saturates from 448 up to 511") {
  const recipe& r = recipes::ocp_mx;
  CHECK(scale_of<e4m3, e8m0>(r, 448.0f) == bits(1.0f));
  CHECK(scale_of<e4m3, e8m0>(r, 511.0f) == bits(1.0f));
  CHECK(scale_of<e4m3, e8m0>(r, 512.0f) == bits(2.0f));
  CHECK(scale_of<e4m3, e8m0>(r, 256.0f) == bits(1.0f));
  CHECK(scale_of<e4m3, e8m0>(r, from(bits(256.0f) - 1)) == bits(0.5f));
  CHECK(scale_of<e5m2, e8m0>(r, 32768.0f) == bits(1.0f));  // exponent of 57344: 15
  // 0.8751 * 2^9 = 448.05, rounded to 448; 511 * 2^0 saturates.
  CHECK(quantized<e4m3, mx<32>>({0.8751f}, r) == group{bits(0x1p-9f), {0x7e}});
  CHECK(quantized<e4m3, mx<32>>({-511.0f, 1.0f}, r) == group{bits(1.0f), {0xfe, 0x38}});
}

TEST_CASE("ocp_mx: zero gives 7f, what is not finite does not count, the codes are 01 to fe") {
  const recipe& r = recipes::ocp_mx;
  CHECK(quantized<e4m3, mx<32>>({0.0f, -0.0f}, r) == group{bits(1.0f), {0x00, 0x80}});
  CHECK(quantized<e4m3, mx<32>>({256.0f, inf, not_a_number}, r) == group{bits(1.0f), {0x78, 0x7e, 0x7f}});
  CHECK(scale_of<e4m3, e8m0>(r, 0x1p-149f) == bits(0x1p-126f));
  CHECK(scale_of<e4m3, e8m0>(r, 0x1p-118f) == bits(0x1p-126f));
  CHECK(scale_of<e4m3, e8m0>(r, 0x1p-117f) == bits(0x1p-125f));
  CHECK(scale_of<e4m3, e8m0>(r, std::numeric_limits<float>::max()) == bits(0x1p119f));
}

TEST_CASE("which elements count for an amax is a limit on their bits") {
  CHECK(detail::amax_limit(amax_rule::finite_only) == 0x7f7fffff);
  CHECK(detail::amax_limit(amax_rule::ignore_nan) == 0x7f800000);
  CHECK(detail::amax_limit(amax_rule::propagate_nan) == 0x7fffffff);
}

TEST_CASE("a scale depends neither on the caller's rounding mode nor on FTZ and DAZ, inside the guard") {
  const std::array<recipe, 4> recipes{recipe{}, recipes::vllm_token_cuda,
                                      recipe{.rule = scale_rule::inverse, .scale_floor = 0.0f},
                                      recipe{.rule = scale_rule::inverse_torch_double, .scale_floor = 0.0f}};
  const std::array<float, 4> amax{awkward, 0x1p-140f, 448 * 0x1.000006p-127f, 3e38f};
  std::array<std::array<std::uint32_t, 4>, 4> wanted{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) wanted[i][j] = scale_of<e4m3>(recipes[i], amax[j]);
  int wrong = 0;
  ofp8::test::for_each_fp_environment([&] {
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        wrong += scale_of<e4m3>(recipes[i], amax[j]) == wanted[i][j] ? 0 : 1;
  });
  CHECK(wrong == 0);
}
