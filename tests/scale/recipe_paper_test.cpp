// SPDX-License-Identifier: Apache-2.0
// The recipes whose software runs on a GPU only, with arithmetic on paper: the formula is the one in the named
// kernel, the numbers are its operations rounded by hand. `tie` below is chosen so that the recipes part ways.
//
// The pair a = 3fe19699 (1.7624084), x = 3de9a51e (0.1140845):
//   s = fl(a / 448) = 3b80e857; x / s = 29 exactly: a tie between 28 (5e, even) and 30 (5f) -> 5e
//   fl(1 / s) = 437e3298; x * fl(1 / s) = 41e80001 = 29.000002, above the tie                  -> 5f
#include <cmath>
#include <cstdint>
#include <vector>

#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/static_scale.hpp>

#include "paper.hpp"
#include "tests/catch.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

const std::vector<float> tie{from(0x3fe19699), from(0x3de9a51e)};
const group divided{0x3b80e857, {0x7e, 0x5e}}, multiplied{0x3b80e857, {0x7e, 0x5f}};

}  // namespace

TEST_CASE("recipes that divide and recipes that multiply by the reciprocal part ways at a tie") {
  for (const recipe& r : {recipes::standard, recipes::vllm_token_cuda, recipes::vllm_group,
                          recipes::vllm_group_native, recipes::deepseek_v3, recipes::fbgemm_row,
                          recipes::torchao_infer, recipes::llm_compressor, recipes::modelopt_fp8})
    CHECK(quantized(tie, r) == divided);
  for (const recipe& r : {recipes::vllm_tensor_dynamic, recipes::vllm_token_native, recipes::deepgemm})
    CHECK(quantized(tie, r) == multiplied);
}

TEST_CASE("vllm_tensor_dynamic: no floor, so that an all-zero tensor is the code of 448 times a scale of 0") {
  // 1 / 0 = Inf; 0 * Inf = NaN, which fminf and fmaxf turn into 448.
  CHECK(quantized({0.0f, -0.0f}, recipes::vllm_tensor_dynamic) == group{0, {0x7e, 0x7e}});
  // Inf / 448 = Inf, 1 / Inf = 0: Inf * 0 = NaN -> 448, -1 * 0 = -0.
  CHECK(quantized({inf, -1.0f, not_a_number}, recipes::vllm_tensor_dynamic) ==
        group{bits(inf), {0x7e, 0x80, 0x7e}});
}

TEST_CASE("vllm_group: amax is at least 1e-10; NaN becomes 448") {
  // fl(1e-10) = 2edbe6ff, over 448 = 2a7b5123; 1e-12 / that = 4.48, nearest 4.5 = 49.
  CHECK(quantized({0.0f, -0.0f}, recipes::vllm_group) == group{0x2a7b5123, {0x00, 0x80}});
  CHECK(quantized({1e-12f}, recipes::vllm_group) == group{0x2a7b5123, {0x49}});
  CHECK(quantized({448.0f, not_a_number}, recipes::vllm_group) == group{bits(1.0f), {0x7e, 0x7e}});
}

TEST_CASE("vllm_group_ue8m0: the floor is on s, and s is rounded up to a power of two") {
  // 1e-10 lies between 2^-34 = 5.8e-11 and 2^-33.
  CHECK(quantized({0.0f}, recipes::vllm_group_ue8m0) == group{bits(0x1p-33f), {0x00}});
  CHECK(quantized({448.0f, 1.0f}, recipes::vllm_group_ue8m0) == group{bits(1.0f), {0x7e, 0x38}});
  CHECK(quantized({from(bits(448.0f) + 1), 1.0f}, recipes::vllm_group_ue8m0) ==
        group{bits(2.0f), {0x76, 0x30}});
}

TEST_CASE("deepgemm_ue8m0: NaN and infinity give the largest exponent, 2^127") {
  // 448 / 2^127 and 1 / 2^127 underflow to zero with their sign, Inf saturates, NaN stays.
  CHECK(quantized({448.0f, -1.0f, inf, not_a_number}, recipes::deepgemm_ue8m0) ==
        group{bits(0x1p127f), {0x00, 0x80, 0x7e, 0x7f}});
  CHECK(quantized({0.0f}, recipes::deepgemm_ue8m0) == group{bits(0x1p-22f), {0x00}});  // 1e-4/448 = 2.2e-7
}

TEST_CASE("fbgemm_row: the bounds of vLLM's token kernel, but NaN stays NaN") {
  CHECK(quantized({0.0f, -0.0f}, recipes::fbgemm_row) == group{0x36924925, {0x00, 0x80}});
  CHECK(quantized({448.0f, not_a_number, -448.0f}, recipes::fbgemm_row) ==
        group{bits(1.0f), {0x7e, 0x7f, 0xfe}});
  recipe bounded = recipes::fbgemm_row;
  bounded.amax_ceiling = 2.0f;  // s = 2 / 448 = 3b924925: 3 / s = 672 saturates, 1 / s = 224
  CHECK(quantized({-3.0f, 1.0f}, bounded) == group{0x3b924925, {0xfe, 0x76}});
  CHECK(scale_of<e4m3fnuz>(recipes::fbgemm_row, 240.0f) == bits(1.0f));  // ROCm: MAX is 240
}

TEST_CASE("te_current: the stored scale is the reciprocal of the inverse, an ulp from amax / 448") {
  // awkward: fl(448 / a) = 4399af6c, fl(1 / that) = 3b55370b, while fl(a / 448) = 3b55370a.
  CHECK(quantized({awkward, -awkward}, recipes::te_current) == group{0x3b55370b, {0x7e, 0xfe}});
  CHECK(scale_of<e4m3>(recipes::standard, awkward) == 0x3b55370a);
  recipe with_epsilon = recipes::te_current;
  with_epsilon.amax_floor = 1.0f;  // fl(448 / 1) = 448, fl(1 / 448) = 3b124925
  CHECK(quantized({0.5f, 0.0f}, with_epsilon) == group{0x3b124925, {0x76, 0x00}});
}

TEST_CASE("te_current: zero and infinite amax give 1, NaN does not count, an infinite inverse is FLT_MAX") {
  CHECK(quantized({0.0f, -0.0f}, recipes::te_current) == group{bits(1.0f), {0x00, 0x80}});
  CHECK(quantized({inf, 2.0f, not_a_number}, recipes::te_current) == group{bits(1.0f), {0x7e, 0x40, 0x7f}});
  CHECK(quantized({448.0f, not_a_number}, recipes::te_current) == group{bits(1.0f), {0x7e, 0x7f}});
  // 448 / 2^-149 overflows: 2^-149 * FLT_MAX = 2^-21 - 2^-45 -> 0; s = 1 / FLT_MAX = 2^-128.
  CHECK(quantized({0x1p-149f}, recipes::te_current) == group{0x00200000, {0x00}});
  // So it is for a bf16: 2^-133 * FLT_MAX = 2^-5 - 2^-29 -> 2^-5 = 10.
  CHECK(quantized<e4m3, per_tensor, bf16>({0x1p-133f}, recipes::te_current) == group{0x00200000, {0x10}});
}

TEST_CASE("te_block: the inverse is rounded down to a power of two, so that s is rounded up") {
  CHECK(quantized({448.0f, 1.0f}, recipes::te_block) == group{bits(1.0f), {0x7e, 0x38}});
  CHECK(quantized({from(bits(448.0f) + 1), 1.0f}, recipes::te_block) == group{bits(2.0f), {0x76, 0x30}});
  CHECK(quantized({0.0f}, recipes::te_block) == group{bits(1.0f), {0x00}});
  CHECK(quantized({inf, 2.0f}, recipes::te_block) == group{bits(1.0f), {0x7e, 0x40}});
  // An infinite inverse: the largest bf16, 1.9921875 * 2^127, rounded down; 2^-133 * 2^127 = 2^-6.
  CHECK(quantized<e4m3, per_tensor, bf16>({0x1p-133f}, recipes::te_block) == group{0x00400000, {0x08}});
}

TEST_CASE("te_mxfp8: amax times the constant fl(1/448), rounded up to a power of two") {
  CHECK(quantized<e4m3, mx<32>>({448.0f, 1.0f}, recipes::te_mxfp8) == group{bits(1.0f), {0x7e, 0x38}});
  CHECK(quantized<e4m3, mx<32>>({from(bits(448.0f) + 1), 1.0f}, recipes::te_mxfp8) ==
        group{bits(2.0f), {0x76, 0x30}});
  // NaN does not count and stays; infinity: fe.
  CHECK(quantized<e4m3, mx<32>>({448.0f, not_a_number}, recipes::te_mxfp8) ==
        group{bits(1.0f), {0x7e, 0x7f}});
  CHECK(quantized<e4m3, mx<32>>({inf, 1.0f}, recipes::te_mxfp8) == group{bits(0x1p127f), {0x7e, 0x00}});
  // Zero and what is below 448 * 2^-127: code 00, whose reciprocal is taken as 1: all zeros with their signs.
  CHECK(quantized<e4m3, mx<32>>({0.0f, -0.0f}, recipes::te_mxfp8) == group{bits(0x1p-127f), {0x00, 0x80}});
  CHECK(quantized<e4m3, mx<32>>({448 * 0x1p-127f, -0x1p-127f}, recipes::te_mxfp8) ==
        group{bits(0x1p-127f), {0x00, 0x80}});
}

TEST_CASE("ort_linear saturates, ort_linear_nonsaturating does not, and both keep the sign of a NaN") {
  matrix<float> x(1, 5);
  const float values[]{465.0f, -inf, not_a_number, -not_a_number, 464.0f};
  for (std::ptrdiff_t i = 0; i < 5; ++i) x(0, i) = values[i];
  const auto codes = [&]<class E>(const recipe& r) {
    return group_of(reference::quantize<E, per_tensor>(x, static_scale(1.0f), r)).codes;
  };
  using list = std::vector<unsigned>;
  CHECK(codes.operator()<e4m3>(recipes::ort_linear) == list{0x7e, 0xfe, 0x7f, 0xff, 0x7e});
  CHECK(codes.operator()<e4m3>(recipes::ort_linear_nonsaturating) == list{0x7f, 0xff, 0x7f, 0xff, 0x7e});
  CHECK(codes.operator()<e5m2>(recipes::ort_linear_nonsaturating) == list{0x5f, 0xfc, 0x7f, 0xff, 0x5f});
}

TEST_CASE("a rounded 16-bit logarithm: exp2(round(T(log2 s))) for every positive finite bf16 and fp16 s") {
  // The library's steps in double: the logarithm is irrational but for powers of two, and no closer to a tie of
  // the first rounding than 1e-9, so that std::log2 decides it.
  const auto check = []<class T>(T) {
    int wrong = 0;
    for (unsigned b = 1; b < 0x8000; ++b) {
      const float s = float(T::from_bits(b));
      if (!detail::is_finite(s)) continue;
      const float logarithm = float(convert<T>(std::log2(double(s))));
      const int exponent = static_cast<int>(std::nearbyint(logarithm));
      const float wanted = impl::recipe_steps::power_or_infinity(exponent);
      wrong += impl::recipe_steps::nearest_by_rounded_log2(s, detail::number_type_of<T>) == wanted ? 0 : 1;
    }
    return wrong;
  };
  CHECK(check(bf16{}) == 0);
  CHECK(check(fp16{}) == 0);
}
