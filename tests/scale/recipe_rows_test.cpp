// SPDX-License-Identifier: Apache-2.0
// Every named recipe once: its formula, and the scale and operand that it gives for one awkward amax and for those that
// its floors and special cases meet, computed by rational arithmetic. recipe_golden_test.cpp has what libraries returned.
#include <cstdint>
#include <cstring>
#include <vector>

#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

using stored = detail::number_type;

struct expectation {
  std::uint32_t amax, scale, operand;  // bits
};

struct rule {
  const char* name;
  const char* formula;
  recipe r;
  stored input, scale;
  std::vector<expectation> expected;
};

// Bits: 3fba9029 = 1.4575244, fl(amax / 448) = 3b55370a.
constexpr std::uint32_t amax = 0x3fba9029, quiet_nan = 0x7fc00000, infinity = 0x7f800000;
constexpr std::uint32_t max = 0x43e00000, above_max = max + 1;  // 448
constexpr std::uint32_t half = 0x3f000000, one = 0x3f800000, two = 0x40000000;

const std::vector<rule> rules{
    {"standard",
     "s = max(amax / 448, 2^-126), x / s; zero: 1",
     recipes::standard,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, one, one}, {1, 0x00800000, 0x00800000}, {max, one, one}}},
    {"vllm_tensor_dynamic",
     "s = amax / 448, x * fl(1/s); no floor: 1/0 = Inf",
     recipes::vllm_tensor_dynamic,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}, {0, 0, infinity}, {infinity, infinity, 0}}},
    {"vllm_tensor_static",
     "the same with a given s (here: of amax)",
     recipes::vllm_tensor_static,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}}},
    {"vllm_token_cuda",
     "s = max(min(amax, ub) / 448, 1/(448*512)), x / s",
     recipes::vllm_token_cuda,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x36924925, 0x36924925}, {infinity, infinity, infinity}}},
    {"vllm_token_native",
     "the same s, x * fl(1/s); NaN spreads",
     recipes::vllm_token_native,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}, {0, 0x36924925, 0x485fffff}, {quiet_nan, quiet_nan, quiet_nan}}},
    {"vllm_group",
     "s = max(amax, 1e-10) / 448, x / s",
     recipes::vllm_group,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x2a7b5123, 0x2a7b5123}}},
    {"vllm_group_ue8m0",
     "s = 2^ceil(log2(max(amax / 448, 1e-10))), x * fl(1/s)",
     recipes::vllm_group_ue8m0,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000}, {0, 0x2f000000, 0x50000000}, {max, one, one}, {above_max, two, half}}},
    {"vllm_group_native",
     "s = max(amax / 448, 1/(448*512)), x / s; NaN spreads",
     recipes::vllm_group_native,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x36924925, 0x36924925}, {quiet_nan, quiet_nan, quiet_nan}}},
    {"vllm_group_ue8m0_native",
     "the next power of two of that",
     recipes::vllm_group_ue8m0_native,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x3b800000},
      {0, 0x37000000, 0x37000000},
      {max, one, one},
      {above_max, two, two},
      {quiet_nan, quiet_nan, quiet_nan}}},
    {"vllm_block_ue8m0",
     "the next power of two of max(amax, 1e-4) / 448, x * fl(1/s); NaN and Inf spread",
     recipes::vllm_block_ue8m0,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000},
      {0, 0x34800000, 0x4a800000},
      {max, one, one},
      {above_max, two, half},
      {infinity, infinity, 0},
      {quiet_nan, quiet_nan, quiet_nan}}},
    {"deepseek_v3",
     "s = max(amax, 1e-4) / 448, x / s",
     recipes::deepseek_v3,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x346facad, 0x346facad}}},
    {"deepseek_v3_ue8m0",
     "the next power of two of that",
     recipes::deepseek_v3_ue8m0,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x3b800000}, {0, 0x34800000, 0x34800000}, {max, one, one}, {above_max, two, two}}},
    {"deepgemm",
     "s = max(amax, 1e-4) / 448, x * fl(1/s)",
     recipes::deepgemm,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}, {0, 0x346facad, 0x4a88b800}, {quiet_nan, quiet_nan, quiet_nan}}},
    {"deepgemm_ue8m0",
     "the next power of two of that, exponent field 1 .. 254",
     recipes::deepgemm_ue8m0,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000},
      {0, 0x34800000, 0x4a800000},
      {max, one, one},
      {above_max, two, half},
      {infinity, 0x7f000000, 0x00400000},
      {quiet_nan, 0x7f000000, 0x00400000}}},
    {"fbgemm_row",
     "s = max(min(amax, ub) / 448, 1/(448*512)), x / s",
     recipes::fbgemm_row,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x36924925, 0x36924925}, {infinity, infinity, infinity}}},
    {"torchao_train",
     "inverse = fl32(448 / max(amax, 1e-12)) by double, x * inverse, s = 1 / inverse",
     recipes::torchao_train,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370b, 0x4399af6c},
      {0, 0x2720d7c5, 0x57cbba10},
      {infinity, infinity, 0},
      {quiet_nan, quiet_nan, quiet_nan}}},
    {"torchao_train_power_of_two",
     "the inverse rounded down",
     recipes::torchao_train_power_of_two,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000},
      {0, 0x27800000, 0x57800000},
      {max, one, one},
      {above_max, two, half},
      {infinity, infinity, 0}}},
    {"torchao_infer",
     "s = D(amax / 448), x / s in float; no floor",
     recipes::torchao_infer,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0, 0}}},
    {"torchao_block",
     "inverse = fl32(fl64(1 / max(amax, 1e-12)) * 448), x * inverse, s = 1 / inverse",
     recipes::torchao_block,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370b, 0x4399af6c}, {0, 0x2720d7c5, 0x57cbba10}, {quiet_nan, quiet_nan, quiet_nan}}},
    {"te_current",
     "inverse = 448 / amax, x * inverse, s = 1 / inverse; bad amax: 1; infinite inverse: FLT_MAX",
     recipes::te_current,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370b, 0x4399af6c},
      {0, one, one},
      {quiet_nan, one, one},
      {infinity, one, one},
      {1, 0x00200000, 0x7f7fffff}}},
    {"te_current_power_of_two",
     "the inverse rounded down to a power of two",
     recipes::te_current_power_of_two,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000},
      {0, one, one},
      {infinity, one, one},
      {max, one, one},
      {above_max, two, half},
      {1, 0x00400000, 0x7f000000}}},
    {"te_block",
     "the same for each block",
     recipes::te_block,
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000},
      {0, one, one},
      {infinity, one, one},
      {max, one, one},
      {above_max, two, half},
      {1, 0x00400000, 0x7f000000}}},
    {"te_mxfp8",
     "e8m0 of amax * fl(1/448), rounded up; 00 gives zeros, Inf fe",
     recipes::te_mxfp8,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x43800000},
      {max, one, one},
      {above_max, two, half},
      {0x42600000, 0x3e000000, 0x41000000},
      {0x42e00000, 0x3e800000, 0x40800000},
      {infinity, 0x7f000000, 0x00400000},
      {0, 0x00400000, 0},
      {1, 0x00400000, 0}}},
    {"hf_block",
     "inverse = fl(1/amax) * 448, w * inverse, s = 1 / inverse; zero: 1",
     recipes::hf_block,
     stored::float32,
     stored::float32,
     {{amax, 0x3b553709, 0x4399af6d},
      {0, one, one},
      {quiet_nan, quiet_nan, quiet_nan},
      {infinity, infinity, 0}}},
    {"hf_block_ue8m0",
     "the next power of two of that s, at least 2^-126",
     recipes::hf_block_ue8m0,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x43800000}, {0, one, one}, {max, one, one}, {above_max, two, half}}},
    {"te_current",
     "a bf16 input: still FLT_MAX",
     recipes::te_current,
     stored::bfloat16,
     stored::float32,
     {{1, 0x00200000, 0x7f7fffff}}},
    {"te_block",
     "a bf16 input: the largest bf16, 2^127 * 1.99, rounded down",
     recipes::te_block,
     stored::bfloat16,
     stored::float32,
     {{0x00010000, 0x00400000, 0x7f000000}}},
    {"torchao_infer",
     "bf16: s = bf16(amax / 448)",
     recipes::torchao_infer,
     stored::bfloat16,
     stored::float32,
     {{0x3fbb0000, 0x3b560000, 0x3b560000}, {0, 0, 0}}},
    {"torchao_infer_e8m0",
     "2^round(log2(amax / 448)): up from sqrt(2)",
     recipes::torchao_infer_e8m0,
     stored::float32,
     stored::float32,
     {{0x441e5fc5, one, one}, {0x441e660a, two, two}, {0, 0, 0}}},
    {"torchao_infer_e8m0",
     "bf16, s = 1.390625 * 2^-9: log2 s = -8.5243, a bf16 near 8.5 is a multiple of 1/16: -8.5, to even -8",
     recipes::torchao_infer_e8m0,
     stored::bfloat16,
     stored::float32,
     {{0x3f9c0000, 0x3b800000, 0x3b800000}}},
    {"torchao_infer_e8m0",
     "bf16, s = 1.390625 * 2^-8: log2 s = -7.5243, a multiple of 1/32: -7.53125 -> -8",
     recipes::torchao_infer_e8m0,
     stored::bfloat16,
     stored::float32,
     {{0x401c0000, 0x3b800000, 0x3b800000}}},
    {"ocp_mx",
     "exponent of amax - 8, codes 01 .. fe; zero: 7f",
     recipes::ocp_mx,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x3b800000}, {0, one, one}, {1, 0x00800000, 0x00800000}, {max, one, one}}},
    {"torchao_mx_floor",
     "exponent of amax - 8; 00 divides as 2^-126, ff as Inf",
     recipes::torchao_mx_floor,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x3b800000},
      {0, 0x00400000, 0x00800000},
      {quiet_nan, quiet_nan, infinity},
      {infinity, 0x7b800000, 0x7b800000}}},
    {"torchao_mx_ceil",
     "exponent of amax, plus 1 unless a power of two, - 8",
     recipes::torchao_mx_ceil,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3c000000, 0x3c000000}, {one, 0x3b800000, 0x3b800000}}},
    {"torchao_mx_even",
     "exponent of amax rounded to 3 bits - 8: up from 1.9375",
     recipes::torchao_mx_even,
     stored::float32,
     stored::exponent_only,
     {{0x3ff7ffff, 0x3b800000, 0x3b800000}, {0x3ff80000, 0x3c000000, 0x3c000000}}},
    {"torchao_mx_rceil",
     "e8m0 of amax / 448, rounded up; a group with code 00 becomes 0",
     recipes::torchao_mx_rceil,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x43800000},
      {0, 0x00400000, 0},
      {infinity, 0x7f000000, 0x00400000},
      {max, one, one},
      {above_max, two, half}}},
    {"llm_compressor",
     "s = D(amax / 448), D(x / s); a scale of 0: eps of D",
     recipes::llm_compressor,
     stored::bfloat16,
     stored::float32,
     {{0x3fbb0000, 0x3b560000, 0x3b560000}, {0, 0x3c000000, 0x3c000000}}},
    {"ct_mx",
     "exponent of amax - 8, plus 1 from 1.75; overflow, Inf and NaN give Inf",
     recipes::ct_mx,
     stored::bfloat16,
     stored::float32,
     {{max, two, two},
      {0x43df0000, one, one},
      {0, 0x00400000, 0x00400000},
      {0x7f600000, infinity, infinity},
      {0x7f5f0000, 0x7b000000, 0x7b000000},
      {quiet_nan, infinity, infinity}}},
    {"modelopt_fp8",
     "s = D(amax / 448), D(x / s); no floor",
     recipes::modelopt_fp8,
     stored::bfloat16,
     stored::float32,
     {{0x3fbb0000, 0x3b560000, 0x3b560000}, {0, 0, 0}}},
    {"modelopt_mx",
     "e8m0 of amax / 448, rounded up; Inf gives fe, NaN 00",
     recipes::modelopt_mx,
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x3b800000},
      {infinity, 0x7f000000, 0x7f000000},
      {quiet_nan, 0x00400000, 0x00400000}}},
    {"ort_linear",
     "x / s with a given s (here: of amax)",
     recipes::ort_linear,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}}},
    {"ort_linear_nonsaturating",
     "the same",
     recipes::ort_linear_nonsaturating,
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}}},
};

bool same(float ours, std::uint32_t wanted) {
  return wanted == quiet_nan ? detail::is_nan(ours) : detail::bits_of(ours) == wanted;
}

void check(const rule& row, const recipe& r) {
  const detail::fp_environment_guard guard;
  for (const expectation& e : row.expected) {
    const scale_step step = impl::recipe_steps::scale_step_at(
        r, detail::float_from_bits(e.amax), detail::code_range_of<e4m3>(), row.input, row.scale);
    INFO(row.name << ": " << row.formula << "; amax " << std::hex << e.amax << ", scale "
                  << detail::bits_of(step.scale) << ", operand " << detail::bits_of(step.operand));
    CHECK(same(step.scale, e.scale));
    CHECK(same(step.operand, e.operand));
    const bool zeroing =
        row.scale == stored::exponent_only && r.e8m0_operand == e8m0_operand_rule::zero_for_00;
    CHECK(step.divide == (r.apply == apply_rule::divide && !zeroing));
  }
}

}  // namespace

TEST_CASE("every rule of the stacks is a recipe, with the scale and operand that its formula gives") {
  for (const rule& row : rules) check(row, row.r);
}

TEST_CASE("every recipe of recipes::all has its formula here, and no name occurs twice") {
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    int formulas = 0, names = 0;
    for (const rule& row : rules) {
      if (std::strcmp(row.name, r.name) != 0) continue;
      ++formulas;
      check(row, r.how);
    }
    for (const named_recipe& other : recipes::all) names += std::strcmp(other.name, r.name) == 0 ? 1 : 0;
    CHECK(formulas >= 1);
    CHECK(names == 1);
  }
}
