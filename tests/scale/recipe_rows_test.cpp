// SPDX-License-Identifier: Apache-2.0
// A recipe is data, and its fields express what every stack does. Each rule is written down here once, with its scale
// for one awkward amax and for the amax that its floors and special cases meet, computed by rational arithmetic.
#include <cstdint>
#include <string>
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

// Bits: 3fba9029 = 1.4575244, fl(amax / 448) = 3b55370a. NaN 7fc00000, Inf 7f800000.
constexpr std::uint32_t amax = 0x3fba9029, quiet_nan = 0x7fc00000, infinity = 0x7f800000;

const recipe none{.amax = amax_rule::propagate_nan, .on_zero = zero_rule::as_computed, .scale_floor = 0.0f};

recipe with(recipe r, auto&& change) {
  change(r);
  return r;
}

const std::vector<rule> rules{
    {"vllm_tensor_dynamic",
     "s = amax / 448, x * fl(1/s); no floor: 1/0 = Inf",
     {.amax = amax_rule::ignore_nan,
      .on_zero = zero_rule::as_computed,
      .scale_floor = 0.0f,
      .apply = apply_rule::multiply_reciprocal,
      .on_nan = nan_rule::largest},
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}, {0, 0, infinity}, {infinity, infinity, 0}}},
    {"vllm_token_native",
     "s = max(min(amax, ub) / 448, 1/(448*512)), x * fl(1/s); NaN spreads",
     with(none,
          [](recipe& r) {
            r.scale_floor_divisor = 512.0f;
            r.apply = apply_rule::multiply_reciprocal;
          }),
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}, {0, 0x36924925, 0x485fffff}, {quiet_nan, quiet_nan, quiet_nan}}},
    {"vllm_group",
     "amax = max(amax, 1e-10), s = amax / 448, x / s",
     {.amax = amax_rule::ignore_nan,
      .amax_floor = 1e-10f,
      .on_zero = zero_rule::as_computed,
      .scale_floor = 0.0f,
      .on_nan = nan_rule::largest},
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x2a7b5123, 0x2a7b5123}}},
    {"vllm_group_ue8m0",
     "s = 2^ceil(log2(max(amax / 448, 1e-10))), x * fl(1/s)",
     {.amax = amax_rule::ignore_nan,
      .on_zero = zero_rule::as_computed,
      .scale_floor = 1e-10f,
      .power = power_rule::up,
      .apply = apply_rule::multiply_reciprocal,
      .on_nan = nan_rule::largest},
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000}, {0, 0x2f000000, 0x50000000}, {0x43e00000, 0x3f800000, 0x3f800000}}},
    {"deepgemm",
     "s = max(amax, 1e-4) / 448, x * fl(1/s)",
     with(none,
          [](recipe& r) {
            r.amax = amax_rule::ignore_nan;
            r.amax_floor = 1e-4f;
            r.apply = apply_rule::multiply_reciprocal;
          }),
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x4399af6d}, {0, 0x346facad, 0x4a88b800}}},
    {"deepgemm, ue8m0",
     "the next power of two of that",
     with(none,
          [](recipe& r) {
            r.amax = amax_rule::ignore_nan;
            r.amax_floor = 1e-4f;
            r.power = power_rule::up;
            r.apply = apply_rule::multiply_reciprocal;
          }),
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000}, {0, 0x34800000, 0x4a800000}, {0x43e00000, 0x3f800000, 0x3f800000}}},
    {"fbgemm_row",
     "s = max(min(amax, ub) / 448, 1/(448*512)), x / s, NaN stays",
     {.amax = amax_rule::ignore_nan,
      .amax_ceiling = 1200.0f,
      .on_zero = zero_rule::as_computed,
      .scale_floor = 0.0f,
      .scale_floor_divisor = 512.0f},
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}, {0, 0x36924925, 0x36924925}, {infinity, 0x402b6db7, 0x402b6db7}}},
    {"torchao_train",
     "inverse = fl32(448 / max(amax, 1e-12)) by double, x * inverse, s = 1 / inverse",
     with(none,
          [](recipe& r) {
            r.amax_floor = 1e-12f;
            r.rule = scale_rule::inverse_double;
            r.apply = apply_rule::multiply_inverse;
          }),
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370b, 0x4399af6c}, {infinity, infinity, 0}}},
    {"torchao_train, power of two",
     "the inverse rounded down",
     with(none,
          [](recipe& r) {
            r.amax_floor = 1e-12f;
            r.rule = scale_rule::inverse_double;
            r.power = power_rule::floor;
            r.power_of = power_operand::inverse;
            r.apply = apply_rule::multiply_inverse;
          }),
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000}, {infinity, infinity, 0}}},
    {"torchao_infer, bf16",
     "s = bf16(amax / 448), x / s in float",
     with(none, [](recipe& r) { r.arithmetic = arithmetic::scale_in_input_type; }),
     stored::bfloat16,
     stored::float32,
     {{0x3fbb0000, 0x3b560000, 0x3b560000}, {0, 0, 0}}},
    {"torchao_infer, e8m0",
     "2^round(log2(amax / 448)): up from sqrt(2)",
     with(none,
          [](recipe& r) {
            r.arithmetic = arithmetic::scale_in_input_type;
            r.power = power_rule::nearest_log2;
          }),
     stored::float32,
     stored::float32,
     {{0x441e5fc5, 0x3f800000, 0x3f800000}, {0x441e660a, 0x40000000, 0x40000000}, {0, 0, 0}}},
    {"te_current",
     "inverse = 448 / amax, x * inverse, s = 1 / inverse; bad amax: 1; infinite inverse: FLT_MAX",
     {.amax = amax_rule::propagate_nan,
      .on_infinite_amax = bad_amax_rule::one,
      .on_nan_amax = bad_amax_rule::one,
      .rule = scale_rule::inverse,
      .on_infinite_inverse = infinite_inverse_rule::largest_of_input_type,
      .scale_floor = 0.0f,
      .apply = apply_rule::multiply_inverse},
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370b, 0x4399af6c},
      {0, 0x3f800000, 0x3f800000},
      {quiet_nan, 0x3f800000, 0x3f800000},
      {infinity, 0x3f800000, 0x3f800000},
      {1, 0x00200000, 0x7f7fffff}}},
    {"te_block",
     "the same, the inverse rounded down to a power of two",
     {.amax = amax_rule::propagate_nan,
      .on_infinite_amax = bad_amax_rule::one,
      .on_nan_amax = bad_amax_rule::one,
      .rule = scale_rule::inverse,
      .on_infinite_inverse = infinite_inverse_rule::largest_of_input_type,
      .scale_floor = 0.0f,
      .power = power_rule::floor,
      .power_of = power_operand::inverse,
      .apply = apply_rule::multiply_inverse},
     stored::float32,
     stored::float32,
     {{amax, 0x3b800000, 0x43800000},
      {0x43e00000, 0x3f800000, 0x3f800000},
      {0x43e00001, 0x40000000, 0x3f000000}}},
    {"te_mxfp8",
     "e8m0 of amax * fl(1/448), rounded up",
     {.amax = amax_rule::ignore_nan,
      .on_zero = zero_rule::as_computed,
      .rule = scale_rule::amax_times_reciprocal,
      .scale_floor = 0.0f,
      .power = power_rule::up,
      .apply = apply_rule::multiply_reciprocal},
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x43800000},
      {0x43e00000, 0x3f800000, 0x3f800000},
      {0x43e00001, 0x40000000, 0x3f000000},
      {0, 0x00400000, 0x7f000000}}},
    {"hf_block",
     "inverse = fl(1/amax) * 448, w * inverse, s = 1 / inverse; zero: 1",
     {.amax = amax_rule::propagate_nan,
      .rule = scale_rule::inverse_torch,
      .scale_floor = 0.0f,
      .apply = apply_rule::multiply_inverse},
     stored::float32,
     stored::float32,
     {{amax, 0x3b553709, 0x4399af6d}, {0, 0x3f800000, 0x3f800000}}},
    {"torchao_block",
     "the same in double, amax at least 1e-12",
     with(none,
          [](recipe& r) {
            r.amax_floor = 1e-12f;
            r.rule = scale_rule::inverse_torch_double;
            r.apply = apply_rule::multiply_inverse;
          }),
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370b, 0x4399af6c}}},
    {"torchao_mx_floor",
     "exponent of amax - 8; 00 divides as 2^-126, ff as Inf",
     with(none,
          [](recipe& r) {
            r.power = power_rule::floor;
            r.power_of = power_operand::amax;
            r.e8m0_operand = e8m0_operand_rule::exponent_field;
          }),
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x3b800000},
      {0, 0x00400000, 0x00800000},
      {quiet_nan, quiet_nan, infinity},
      {infinity, 0x7b800000, 0x7b800000}}},
    {"torchao_mx_ceil",
     "exponent of amax, plus 1 unless a power of two, - 8",
     with(none,
          [](recipe& r) {
            r.power = power_rule::up;
            r.power_of = power_operand::amax;
            r.e8m0_operand = e8m0_operand_rule::exponent_field;
          }),
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3c000000, 0x3c000000}, {0x3f800000, 0x3b800000, 0x3b800000}}},
    {"torchao_mx_even",
     "exponent of amax rounded to 3 bits - 8: up from 1.9375",
     with(none,
          [](recipe& r) {
            r.power = power_rule::after_rounding;
            r.power_of = power_operand::amax;
            r.e8m0_operand = e8m0_operand_rule::exponent_field;
          }),
     stored::float32,
     stored::exponent_only,
     {{0x3ff7ffff, 0x3b800000, 0x3b800000}, {0x3ff80000, 0x3c000000, 0x3c000000}}},
    {"torchao_mx_rceil",
     "e8m0 of amax / 448, rounded up; a group with code 00 becomes 0",
     with(none,
          [](recipe& r) {
            r.on_infinite_amax = bad_amax_rule::largest;
            r.power = power_rule::up;
            r.e8m0_operand = e8m0_operand_rule::zero_for_00;
          }),
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x43800000}, {0, 0x00400000, 0}, {infinity, 0x7f000000, 0x00400000}}},
    {"ct_mx",
     "exponent of amax - 8, plus 1 from 1.75; overflow, Inf and NaN give Inf",
     with(none,
          [](recipe& r) {
            r.on_infinite_amax = bad_amax_rule::infinite;
            r.on_nan_amax = bad_amax_rule::infinite;
            r.arithmetic = arithmetic::input_type;
            r.power = power_rule::from_1_75;
            r.power_of = power_operand::amax;
            r.on_minus_zero = minus_zero_rule::drop;
          }),
     stored::bfloat16,
     stored::float32,
     {{0x43e00000, 0x40000000, 0x40000000},
      {0x43df0000, 0x3f800000, 0x3f800000},
      {0, 0x00400000, 0x00400000},
      {0x7f600000, infinity, infinity},
      {0x7f5f0000, 0x7b000000, 0x7b000000},
      {quiet_nan, infinity, infinity}}},
    {"modelopt_fp8, bf16",
     "s = bf16(amax / 448), bf16(x / s); no floor",
     with(none, [](recipe& r) { r.arithmetic = arithmetic::input_type; }),
     stored::bfloat16,
     stored::float32,
     {{0x3fbb0000, 0x3b560000, 0x3b560000}, {0, 0, 0}}},
    {"modelopt_mx",
     "e8m0 of amax / 448, rounded up; Inf gives fe, NaN 00",
     with(none,
          [](recipe& r) {
            r.on_infinite_amax = bad_amax_rule::largest;
            r.on_nan_amax = bad_amax_rule::smallest;
            r.power = power_rule::up;
          }),
     stored::float32,
     stored::exponent_only,
     {{amax, 0x3b800000, 0x3b800000},
      {infinity, 0x7f000000, 0x7f000000},
      {quiet_nan, 0x00400000, 0x00400000}}},
    {"ort_linear",
     "x / s with a given s (here: of amax), as the conversion saturates",
     {.conversion = nonsaturating},
     stored::float32,
     stored::float32,
     {{amax, 0x3b55370a, 0x3b55370a}}},
};

bool same(float ours, std::uint32_t wanted) {
  return wanted == quiet_nan ? detail::is_nan(ours) : detail::bits_of(ours) == wanted;
}

}  // namespace

TEST_CASE("every rule of the stacks is a recipe, with the scale and operand that its formula gives") {
  const detail::fp_environment_guard guard;
  for (const rule& row : rules) {
    for (const expectation& e : row.expected) {
      const scale_step step = impl::recipe_steps::scale_step_at(
          row.r, detail::float_from_bits(e.amax), detail::code_range_of<e4m3>(), row.input, row.scale);
      INFO(row.name << ": " << row.formula << "; amax " << std::hex << e.amax << ", scale "
                    << detail::bits_of(step.scale) << ", operand " << detail::bits_of(step.operand));
      CHECK(same(step.scale, e.scale));
      CHECK(same(step.operand, e.operand));
      CHECK(step.divide ==
            (row.r.apply == apply_rule::divide && row.r.e8m0_operand != e8m0_operand_rule::zero_for_00));
    }
  }
}
