// SPDX-License-Identifier: Apache-2.0
// Recipes against what the libraries they are named after returned (tests/data/recipes; the scripts are in
// tests/data/generate): the reference and every instruction set give the recorded scales and codes, bit for bit.
// Rows that a library gets from an approximate logarithm are named here and must differ. CUDA and Triton kernels
// could not be recorded: recipe_paper_test.cpp has their recipes with arithmetic on paper.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/static_scale.hpp>

#include "golden_recipe.hpp"
#include "tests/catch.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

using names = std::vector<std::string>;  // "case type" of rows

/// Rows with NaN or infinity; the largest float of "huge" is infinite in bf16.
const names not_finite{"inf f32", "inf bf16", "minus_inf f32", "minus_inf bf16",
                       "nan f32", "nan bf16", "huge bf16"};

bool is_one_of(const golden_call& call, const names& rows) {
  return std::find(rows.begin(), rows.end(), call.name + ' ' + call.x_type) != rows.end();
}

/// `calls` rows of a file, all equal but `others`, which all differ.
template <class E, granularity G>
void check(const char* file, const char* params, const recipe& r, std::size_t calls,
           const names& others = {}) {
  const auto rows = golden_calls(file, params);
  CHECK(rows.size() == calls);
  std::size_t different = 0;
  for (const golden_call& call : rows) {
    if (!is_one_of(call, others)) {
      CHECK(difference<E, G>(call, r) == "");
    } else {
      different += difference<E, G>(call, r).empty() ? 0u : 1u;
    }
  }
  CHECK(different == others.size());
}

/// torchao's MX groups are 8 wide here, or 1 where the columns are no multiple of 8.
template <class E>
void check_mx(const char* params, const recipe& r, const names& others = {}) {
  std::size_t calls = 0, different = 0;
  for (const golden_call& call : golden_calls("torchao_mx", params)) {
    ++calls;
    const std::string found =
        call.cols % 8 == 0 ? difference<E, mx<8>>(call, r) : difference<E, mx<1>>(call, r);
    if (!is_one_of(call, others)) {
      CHECK(found == "");
    } else {
      different += found.empty() ? 0u : 1u;
    }
  }
  CHECK(calls == 40);
  CHECK(different == others.size());
}

float propagated_amax(const golden_call& call, std::ptrdiff_t first, std::ptrdiff_t last) {
  std::uint32_t amax = 0;
  for (std::ptrdiff_t i = first; i < last; ++i)
    amax = std::max(amax, detail::magnitude_bits(number(call.x_type, call.x[static_cast<std::size_t>(i)])));
  return detail::float_from_bits(amax);
}

/// Files whose scale column is the inverse: it is the operand of x, and the stored scale is its reciprocal.
template <class E, granularity G>
void check_inverse(const std::string& params, const recipe& r, const names& others = {}) {
  const auto rows = golden_calls("torchao_train", params);
  CHECK(rows.size() == 40);
  for (golden_call call : rows) {
    if (is_one_of(call, others)) continue;
    const auto groups = static_cast<std::ptrdiff_t>(call.scales.size()),
               size = call.rows * call.cols / groups;
    for (std::ptrdiff_t g = 0; g < groups; ++g) {
      std::uint32_t& s = call.scales[static_cast<std::size_t>(g)];
      const float amax = propagated_amax(call, g * size, (g + 1) * size);
      const float inverse = scale_step_for<E>(r, amax).operand;
      CHECK((detail::is_nan(inverse) ? detail::is_nan(number("f32", s)) : detail::bits_of(inverse) == s));
      s = detail::bits_of(1.0f / inverse);
    }
    CHECK(difference<E, G>(call, r) == "");
  }
  std::size_t different = 0;
  for (golden_call call : rows) {
    if (!is_one_of(call, others)) continue;
    for (std::uint32_t& s : call.scales) s = detail::bits_of(1.0f / detail::float_from_bits(s));
    different += difference<E, G>(call, r).empty() ? 0u : 1u;
  }
  CHECK(different == others.size());
}

recipe bounded(recipe r, float floor, float ceiling) {
  r.amax_floor = floor;
  r.amax_ceiling = ceiling;
  return r;
}

bool ordinary(const golden_call& call) {
  for (std::uint32_t bits : call.x)
    if (!detail::is_finite(number(call.x_type, bits))) return false;
  for (std::uint32_t code : call.scales)
    if (code == 0) return false;
  return true;
}

template <class E>
int check_ocp_mx(const std::string& params) {
  int compared = 0;
  for (const golden_call& call : golden_calls("torchao_mx", params)) {
    if (!ordinary(call)) continue;
    ++compared;
    if (call.cols % 8 == 0) {
      CHECK(difference<E, mx<8>>(call, recipes::ocp_mx) == "");
    } else {
      CHECK(difference<E, mx<1>>(call, recipes::ocp_mx) == "");
    }
  }
  return compared;
}

}  // namespace

TEST_CASE(
    "llm_compressor gives the scales and codes of llm-compressor and compressed-tensors, all recorded rows") {
  const recipe& r = recipes::llm_compressor;
  check<e4m3, per_tensor>("ct_tensor", "", r, 40);
  check<e4m3, per_channel>("ct_channel", "", r, 40);
  check<e4m3, block_wise<2, 4>>("ct_block", "block=2x4", r, 40);
  check<e4m3, block_wise<3, 5>>("ct_block", "block=3x5", r, 40);
  check<e4m3, block_wise<128, 128>>("ct_block", "block=128x128", r, 1);
  check<e4m3, per_token>("ct_token", "ndim=3", r, 40);
  check<e4m3, per_tensor>("ct_token", "ndim=2", r, 40);  // its 2-D token scale is one number
  check<e4m3, per_group<4>>("ct_group", "group=4", r, 36);
}

TEST_CASE("ct_mx gives compressed-tensors' MXFP8, all recorded rows") {
  check<e4m3, per_group<32>>("ct_mxfp8", "group=32", recipes::ct_mx, 40);
}

TEST_CASE("ocp_mx gives torchao's floor mode wherever a scale is above 2^-127 and all inputs are finite") {
  // Left out: an all-zero group, a scale below 2^-126 (torchao: code 00; here 7f and 01), Inf and NaN inputs
  // (here they do not count).
  CHECK(check_ocp_mx<e4m3>("e4m3fn,floor") == 23);
  CHECK(check_ocp_mx<e5m2>("e5m2,floor") == 23);
}

TEST_CASE("torchao_mx_floor, _ceil and _even give torchao's modes, all recorded rows") {
  check_mx<e4m3>("e4m3fn,floor", recipes::torchao_mx_floor);
  check_mx<e5m2>("e5m2,floor", recipes::torchao_mx_floor);
  check_mx<e4m3>("e4m3fn,ceil", recipes::torchao_mx_ceil);
  check_mx<e5m2>("e5m2,ceil", recipes::torchao_mx_ceil);
  check_mx<e4m3>("e4m3fn,even", recipes::torchao_mx_even);
  check_mx<e5m2>("e5m2,even", recipes::torchao_mx_even);
}

TEST_CASE("torchao_mx_rceil gives torchao's mode but for the amax that its FP32 logarithm misses") {
  // amax / MAX is one unit above a power of two there: its logarithm in FP32 is that of the power itself.
  check_mx<e4m3>("e4m3fn,rceil", recipes::torchao_mx_rceil, {"mx_edges f32"});
  check_mx<e5m2>("e5m2,rceil", recipes::torchao_mx_rceil, {"pow2_edges f32", "mx_edges f32"});
}

TEST_CASE("torchao_train gives torchao.float8's inverses and codes, all recorded rows") {
  check_inverse<e4m3, per_tensor>("e4m3fn,tensorwise,pow2=0", recipes::torchao_train);
  check_inverse<e5m2, per_tensor>("e5m2,tensorwise,pow2=0", recipes::torchao_train);
  check_inverse<e4m3, per_channel>("e4m3fn,axiswise,pow2=0", recipes::torchao_train);
  check_inverse<e5m2, per_channel>("e5m2,axiswise,pow2=0", recipes::torchao_train);
}

TEST_CASE("torchao_train_power_of_two gives torchao.float8's powers of two but for its FP32 logarithm") {
  // An inverse one unit below a power of two is that power to a logarithm in FP32, and is not rounded down.
  const recipe& r = recipes::torchao_train_power_of_two;
  check_inverse<e4m3, per_tensor>("e4m3fn,tensorwise,pow2=1", r);
  check_inverse<e5m2, per_tensor>("e5m2,tensorwise,pow2=1", r);
  check_inverse<e4m3, per_channel>("e4m3fn,axiswise,pow2=1", r, {"pow2_edges f32", "mx_edges f32"});
  check_inverse<e5m2, per_channel>("e5m2,axiswise,pow2=1", r, {"pow2_edges f32", "mx_edges f32"});
}

TEST_CASE("torchao_infer gives torchao's inference scales and codes, all recorded rows") {
  const recipe& r = recipes::torchao_infer;
  check<e4m3, per_tensor>("torchao_infer", "tensor", r, 40);
  check<e4m3, per_channel>("torchao_infer", "row", r, 38);  // of 40: torchao refuses 7x1
  check<e5m2, per_channel>("torchao_infer", "row,e5m2", r, 38);
  check<e4m3, block_wise<2, 4>>("torchao_infer", "block=2x4", r, 36);
  check<e4m3, per_channel>("torchao_infer", "row,lb=1e-12,ub=1200", bounded(r, 1e-12f, 1200.0f), 38);
}

TEST_CASE(
    "torchao_infer_e8m0 gives torchao's rounded exponents, all recorded rows, bf16 logarithms included") {
  check<e4m3, per_tensor>("torchao_infer", "tensor,e8m0", recipes::torchao_infer_e8m0, 40);
  check<e4m3, per_channel>("torchao_infer", "row,e8m0", recipes::torchao_infer_e8m0, 38);
}

TEST_CASE("torchao_block gives torchao's blockwise training kernels, all recorded rows") {
  check<e4m3, per_group<4>>("torchao_block", "act=1x4", recipes::torchao_block, 36);
  check<e4m3, block_wise<2, 2>>("torchao_block", "weight=2x2", recipes::torchao_block, 36);
  check<e4m3, block_wise<128, 128>>("torchao_block", "weight=128x128", recipes::torchao_block, 1);
}

TEST_CASE("hf_block gives transformers' fine-grained FP8, all recorded rows") {
  check<e4m3, block_wise<2, 4>>("hf_finegrained", "block=2x4", recipes::hf_block, 36);
  check<e4m3, block_wise<128, 128>>("hf_finegrained", "block=128x128", recipes::hf_block, 1);
}

TEST_CASE("hf_block_ue8m0 gives transformers' power-of-two scales but for its FP32 logarithm") {
  // "huge": s is one unit above 2^119, "mx_edges": above 2^-9.
  check<e4m3, scale_block<2, 4, e8m0>>("hf_finegrained", "block=2x4,ue8m0", recipes::hf_block_ue8m0, 36,
                                       {"huge f32", "huge bf16", "mx_edges f32"});
}

TEST_CASE("te_current gives TransformerEngine's Python reference wherever that has the kernel's rule") {
  // The Python reference lets NaN and infinity through to the scale and takes the largest bf16 where the kernel
  // takes FLT_MAX: those rows differ.
  names others = not_finite;
  others.push_back("subnormal bf16");
  recipe with_epsilon = recipes::te_current;
  with_epsilon.amax_floor = 1e-4f;
  check<e4m3, per_tensor>("te_current", "e4m3fn,pow2=0,eps=0", recipes::te_current, 40, others);
  check<e4m3, per_tensor>("te_current", "e4m3fn,pow2=0,eps=0.0001", with_epsilon, 40, not_finite);
  others.push_back("tiny_normal bf16");  // 57344 / amax is infinite here already
  check<e5m2, per_tensor>("te_current", "e5m2,pow2=0,eps=0", recipes::te_current, 40, others);
}

TEST_CASE("te_current_power_of_two and te_block give its Python reference's powers of two, finite rows") {
  for (const recipe& r : {recipes::te_current_power_of_two, recipes::te_block}) {
    check<e4m3, per_tensor>("te_current", "e4m3fn,pow2=1,eps=0", r, 40, not_finite);
    check<e5m2, per_tensor>("te_current", "e5m2,pow2=1,eps=0", r, 40, not_finite);
  }
}

TEST_CASE("te_current with the Python reference's rules for NaN, infinity and bf16 gives all recorded rows") {
  recipe r = recipes::te_current;
  r.amax = amax_rule::propagate_nan;
  r.on_infinite_amax = r.on_nan_amax = bad_amax_rule::as_computed;
  r.on_infinite_inverse = infinite_inverse_rule::largest_of_input_type;
  check<e4m3, per_tensor>("te_current", "e4m3fn,pow2=0,eps=0", r, 40);
  check<e5m2, per_tensor>("te_current", "e5m2,pow2=0,eps=0", r, 40);
}

TEST_CASE("modelopt_fp8 gives ModelOpt's scales and codes, all recorded rows") {
  check<e4m3, per_tensor>("modelopt_fp8", "tensor", recipes::modelopt_fp8, 40);
  check<e4m3, per_channel>("modelopt_fp8", "axis=0", recipes::modelopt_fp8, 40);
  check<e4m3, per_group<4>>("modelopt_fp8", "block=4", recipes::modelopt_fp8, 40);
  check<e4m3, block_wise<2, 4>>("modelopt_fp8", "block=2x4", recipes::modelopt_fp8, 40);
}

TEST_CASE("modelopt_mx gives ModelOpt's MXFP8 but for its FP32 logarithm") {
  check<e4m3, mx<32>>("modelopt_mxfp8", "block=32", recipes::modelopt_mx, 40, {"mx_edges f32"});
}

TEST_CASE("vllm_token_native and vllm_group_native give vLLM's torch path, all recorded rows") {
  const recipe& token = recipes::vllm_token_native;
  check<e4m3, per_tensor>("vllm_native", "tensor", token, 40);
  check<e4m3, per_token>("vllm_native", "token", token, 40);
  check<e4m3, per_token>("vllm_native", "token,ub=2", bounded(token, 0.0f, 2.0f), 40);
  check<e4m3, per_group<4>>("vllm_native", "group=4", recipes::vllm_group_native, 40);
}

TEST_CASE("the recipes with ue8m0 scales give vLLM's powers of two but for its FP32 logarithm") {
  check<e4m3, per_group<4>>("vllm_native", "group=4,ue8m0", recipes::vllm_group_ue8m0_native, 40,
                            {"mx_edges f32"});
  check<e4m3, block_wise<2, 4>>("vllm_block", "block=2x4,ue8m0", recipes::vllm_block_ue8m0, 40,
                                {"mx_edges f32"});
  names others = not_finite;
  others.push_back("mx_edges f32");
  // DeepGEMM's own code rounds by bits and clamps the exponent field: NaN and infinity give 2^127.
  check<e4m3, block_wise<2, 4>>("vllm_block", "block=2x4,ue8m0", recipes::deepgemm_ue8m0, 40, others);
}

TEST_CASE("deepgemm gives vLLM's copy of DeepGEMM's weight cast, all recorded rows") {
  check<e4m3, block_wise<2, 4>>("vllm_block", "block=2x4", recipes::deepgemm, 40);
  check<e4m3, block_wise<128, 128>>("vllm_block", "block=128x128", recipes::deepgemm, 1);
}

TEST_CASE("vllm_tensor_static gives vLLM's torch path but for NaN, which the CUDA kernel clamps to 448") {
  for (const golden_call& call : golden_calls("vllm_native", "tensor,static,scale=0.0123")) {
    const std::string found =
        difference<e4m3, per_tensor>(call, static_scale(0.0123f), recipes::vllm_tensor_static);
    CHECK(found.empty() == (call.name != "nan"));
  }
}

TEST_CASE("ort_linear gives ONNX Runtime's QuantizeLinear, all recorded rows") {
  std::size_t calls = 0;
  const auto check_given = [&]<class E, granularity G>(const char* params, const recipe& r) {
    for (const golden_call& call : golden_calls("ort_quantizelinear", params)) {
      ++calls;
      std::vector<float> s;
      for (std::uint32_t bits : call.scales) s.push_back(detail::float_from_bits(bits));
      const std::ptrdiff_t rows = std::ssize(s);
      const static_scale given(scale_grid<const float>(s.data(), rows, 1));
      CHECK((difference<E, G>(call, given, r)) == "");
    }
  };
  for (const recipe& r : {recipes::ort_linear, recipes::ort_linear_nonsaturating}) {
    const bool saturate = r.conversion.on_overflow == overflow_rule::saturate;
    check_given.operator()<e4m3, per_tensor>(
        saturate ? "e4m3fn,tensor,saturate=1" : "e4m3fn,tensor,saturate=0", r);
    check_given.operator()<e4m3, per_channel>(saturate ? "e4m3fn,row,saturate=1" : "e4m3fn,row,saturate=0",
                                              r);
    check_given.operator()<e5m2, per_tensor>(saturate ? "e5m2,tensor,saturate=1" : "e5m2,tensor,saturate=0",
                                             r);
    check_given.operator()<e5m2, per_channel>(saturate ? "e5m2,row,saturate=1" : "e5m2,row,saturate=0", r);
  }
  CHECK(calls == 160);
}
