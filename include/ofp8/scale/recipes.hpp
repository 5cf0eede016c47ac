// SPDX-License-Identifier: Apache-2.0
// ofp8: the recipes of the stacks by name, each with the bytes of that stack. A name is the stack and the
// path in it; docs/recipes.md has them as a table and says which one a checkpoint or an engine needs.
//
//   quantize<e4m3, per_token>(x, recipes::vllm_token_cuda);
//   quantize<e4m3, block_wise<128, 128>>(w, recipes::deepseek_v3);
//   for (const named_recipe& r : recipes::all) std::cout << r.name << '\n';
//
// s is the dequantization multiplier, MAX the largest finite number of the format, D the input's type; fl( )
// is one rounding to FP32. A granularity in a comment is the one that the stack uses the recipe with.
#pragma once

#include <ofp8/core/policy.hpp>
#include <ofp8/scale/recipe.hpp>

namespace ofp8 {

/// Recipes by the name of the stack whose bytes they give.
namespace recipes {

/// The default: s = amax / MAX, x / s; NaN stays NaN; infinity saturates and does not count; an all-zero
/// group gets 1. Any granularity; with mx the scale is rounded up to a power of two, so that nothing
/// saturates.
inline constexpr recipe standard{};

// ---- vLLM (0.33.0; csrc/quantization/w8a8/fp8, model_executor/layers/quantization/input_quant_fp8

/// vLLM's CUDA kernel for dynamic per-tensor scales (dynamic_scaled_fp8_quant): s = amax / MAX, no floor;
/// clamp(x * fl(1 / s)). NaN becomes +MAX. An all-zero tensor gets s = 0 and the code of +MAX everywhere
/// (0 * Inf is NaN, and a clamped NaN is +MAX): times 0 that is 0 again. per_tensor.
inline constexpr recipe vllm_tensor_dynamic{.amax = amax_rule::ignore_nan,
                                            .on_zero = zero_rule::as_computed,
                                            .scale_floor = 0.0f,
                                            .apply = apply_rule::multiply_reciprocal,
                                            .on_nan = nan_rule::largest};

/// vLLM's CUDA kernel for static per-tensor scales (static_scaled_fp8_quant): clamp(x * fl(1 / s)) with a
/// given s. The multiply-only quantization: use it with a static_scale. per_tensor.
inline constexpr recipe vllm_tensor_static = vllm_tensor_dynamic;

/// vLLM's CUDA kernel for per-token scales (dynamic_per_token_scaled_fp8_quant): t = min(amax, scale_ub),
/// s = max(t / MAX, 1 / (MAX * 512)), clamp(x / s). NaN becomes +MAX; one infinity makes the row's scale
/// infinite. Set `.amax_ceiling` for a scale_ub. per_token.
inline constexpr recipe vllm_token_cuda{.amax = amax_rule::ignore_nan,
                                        .on_zero = zero_rule::as_computed,
                                        .scale_floor = 0.0f,
                                        .scale_floor_divisor = 512.0f,
                                        .on_nan = nan_rule::largest};

/// vLLM's torch path (QuantFP8.forward_native: CPU, and fused by torch.compile): the scale of
/// vllm_token_cuda, but x * fl(1 / s), and a NaN makes the group's scale NaN. per_token, and per_tensor with
/// the same floor.
inline constexpr recipe vllm_token_native{.amax = amax_rule::propagate_nan,
                                          .on_zero = zero_rule::as_computed,
                                          .scale_floor = 0.0f,
                                          .scale_floor_divisor = 512.0f,
                                          .apply = apply_rule::multiply_reciprocal};

/// vLLM's CUDA and Triton kernels for activation groups (per_token_group_quant_fp8): amax at least 1e-10,
/// s = amax / MAX, clamp(x / s). NaN becomes +MAX. per_group<128>.
inline constexpr recipe vllm_group{.amax = amax_rule::ignore_nan,
                                   .amax_floor = 1e-10f,
                                   .on_zero = zero_rule::as_computed,
                                   .scale_floor = 0.0f,
                                   .on_nan = nan_rule::largest};

/// The same with use_ue8m0: s = 2^ceil(log2(max(amax / MAX, 1e-10))), clamp(x * fl(1 / s)), which is exact.
/// per_group<128> for DeepGEMM on Blackwell.
inline constexpr recipe vllm_group_ue8m0{.amax = amax_rule::ignore_nan,
                                         .on_zero = zero_rule::as_computed,
                                         .scale_floor = 1e-10f,
                                         .power = power_rule::up,
                                         .apply = apply_rule::multiply_reciprocal,
                                         .on_nan = nan_rule::largest};

/// vLLM's torch path for groups: s = max(amax / MAX, 1 / (MAX * 512)), x / s; NaN spreads. per_group<128>.
inline constexpr recipe vllm_group_native{.amax = amax_rule::propagate_nan,
                                          .on_zero = zero_rule::as_computed,
                                          .scale_floor = 0.0f,
                                          .scale_floor_divisor = 512.0f};

/// The same with use_ue8m0: that s rounded up to a power of two. The torch path takes a logarithm in FP32 and
/// misses some s one unit above a power of two; here it is exact. per_group<128>.
inline constexpr recipe vllm_group_ue8m0_native{.amax = amax_rule::propagate_nan,
                                                .on_zero = zero_rule::as_computed,
                                                .scale_floor = 0.0f,
                                                .scale_floor_divisor = 512.0f,
                                                .power = power_rule::up};

/// vLLM's weights for DeepGEMM with use_ue8m0 (per_block_cast_to_fp8 of utils/deep_gemm.py): amax at least
/// 1e-4, s = amax / MAX rounded up to a power of two, x * fl(1 / s); NaN and infinity spread.
/// block_wise<128, 128>. Without use_ue8m0 it is `deepgemm`.
inline constexpr recipe vllm_block_ue8m0{.amax = amax_rule::propagate_nan,
                                         .amax_floor = 1e-4f,
                                         .on_zero = zero_rule::as_computed,
                                         .scale_floor = 0.0f,
                                         .power = power_rule::up,
                                         .apply = apply_rule::multiply_reciprocal};

// ---- DeepSeek-V3 (9b4e978; inference/kernel.py) and DeepGEMM (54e2261; deep_gemm/utils/math.py) -

/// DeepSeek-V3's Triton kernels (act_quant, weight_quant): s = max(amax, 1e-4) / MAX, x / s, cast.
/// per_group<128> for activations, block_wise<128, 128> for weights.
inline constexpr recipe deepseek_v3{.amax = amax_rule::ignore_nan,
                                    .amax_floor = 1e-4f,
                                    .on_zero = zero_rule::as_computed,
                                    .scale_floor = 0.0f};

/// The same with scale_fmt = "ue8m0": s rounded up to a power of two.
inline constexpr recipe deepseek_v3_ue8m0{.amax = amax_rule::ignore_nan,
                                          .amax_floor = 1e-4f,
                                          .on_zero = zero_rule::as_computed,
                                          .scale_floor = 0.0f,
                                          .power = power_rule::up};

/// DeepGEMM's casts (per_token_cast_to_fp8, per_block_cast_to_fp8), and vLLM's copy of them: amax at least
/// 1e-4, s = amax / MAX, x * fl(1 / s), cast; amax * fl(1 / s) may exceed MAX by one unit, which rounds to
/// MAX. A NaN makes the block's scale NaN. per_group<128> and block_wise<128, 128>.
inline constexpr recipe deepgemm{.amax = amax_rule::propagate_nan,
                                 .amax_floor = 1e-4f,
                                 .on_zero = zero_rule::as_computed,
                                 .scale_floor = 0.0f,
                                 .apply = apply_rule::multiply_reciprocal};

/// The same with use_ue8m0 (ceil_to_ue8m0): s rounded up to a power of two by its bits, with an exponent
/// field of 1 .. 254, so that the scale of a group with NaN or infinity is 2^127.
inline constexpr recipe deepgemm_ue8m0{.amax = amax_rule::propagate_nan,
                                       .amax_floor = 1e-4f,
                                       .on_zero = zero_rule::as_computed,
                                       .on_infinite_amax = bad_amax_rule::largest,
                                       .on_nan_amax = bad_amax_rule::largest,
                                       .scale_floor = 0.0f,
                                       .power = power_rule::up,
                                       .apply = apply_rule::multiply_reciprocal};

// ---- FBGEMM (71d6f8b; experimental/gen_ai, quantize_fp8_per_row) --------------------------------

/// FBGEMM's rowwise quantization: s = max(min(amax, ub) / MAX, 1 / (MAX * 512)), x / s, saturating cast: NaN
/// stays NaN. Set `.amax_ceiling` for its scale_ub. per_channel and per_token.
inline constexpr recipe fbgemm_row{.amax = amax_rule::ignore_nan,
                                   .on_zero = zero_rule::as_computed,
                                   .scale_floor = 0.0f,
                                   .scale_floor_divisor = 512.0f};

// ---- torchao (0.18.0) ---------------------------------------------------------------------------

/// torchao.float8 training (float8_scaling_utils.py): inverse = fl(MAX / max(amax, 1e-12)), the division in
/// double; x * inverse; s = fl(1 / inverse). NaN spreads. per_tensor and per_channel.
inline constexpr recipe torchao_train{.amax = amax_rule::propagate_nan,
                                      .amax_floor = 1e-12f,
                                      .on_zero = zero_rule::as_computed,
                                      .rule = scale_rule::inverse_double,
                                      .scale_floor = 0.0f,
                                      .apply = apply_rule::multiply_inverse};

/// The same with round_scales_to_power_of_2: the inverse is rounded down to a power of two.
inline constexpr recipe torchao_train_power_of_two{.amax = amax_rule::propagate_nan,
                                                   .amax_floor = 1e-12f,
                                                   .on_zero = zero_rule::as_computed,
                                                   .rule = scale_rule::inverse_double,
                                                   .scale_floor = 0.0f,
                                                   .power = power_rule::floor,
                                                   .power_of = power_operand::inverse,
                                                   .apply = apply_rule::multiply_inverse};

/// torchao inference (_choose_scale_float8, _quantize_affine_float8 of quant_primitives.py; Float8Tensor):
/// s = D(amax / MAX) in the input's type, x / s in FP32. An all-zero group gets s = 0 and NaN codes. Its
/// hp_value_lb and hp_value_ub are `.amax_floor` and `.amax_ceiling`. per_tensor, per_channel, blocks.
inline constexpr recipe torchao_infer{.amax = amax_rule::propagate_nan,
                                      .on_zero = zero_rule::as_computed,
                                      .arithmetic = arithmetic::scale_in_input_type,
                                      .scale_floor = 0.0f};

/// The same with scale_dtype e8m0: s = 2^round(log2 s), to nearest: amax / s reaches 633, which saturates.
inline constexpr recipe torchao_infer_e8m0{.amax = amax_rule::propagate_nan,
                                           .on_zero = zero_rule::as_computed,
                                           .arithmetic = arithmetic::scale_in_input_type,
                                           .scale_floor = 0.0f,
                                           .power = power_rule::nearest_log2};

/// torchao.prototype.blockwise_fp8_training: inverse = fl(fl64(1 / max(amax, 1e-12)) * MAX) in double
/// (torch's `448.0 / tensor`), x * inverse, s = fl(1 / inverse). per_group<128>, block_wise<128, 128>.
inline constexpr recipe torchao_block{.amax = amax_rule::propagate_nan,
                                      .amax_floor = 1e-12f,
                                      .on_zero = zero_rule::as_computed,
                                      .rule = scale_rule::inverse_torch_double,
                                      .scale_floor = 0.0f,
                                      .apply = apply_rule::multiply_inverse};

/// torchao.prototype.mx_formats, ScaleCalculationMode.FLOOR: the exponent of amax minus that of MAX, code 00
/// allowed. Code 00 divides as 2^-126 and ff (a NaN in the group) as infinity. mx<32>.
inline constexpr recipe torchao_mx_floor{.amax = amax_rule::propagate_nan,
                                         .on_zero = zero_rule::as_computed,
                                         .scale_floor = 0.0f,
                                         .power = power_rule::floor,
                                         .power_of = power_operand::amax,
                                         .e8m0_operand = e8m0_operand_rule::exponent_field};

/// ScaleCalculationMode.CEIL: the exponent of amax rounded up to a power of two. mx<32>.
inline constexpr recipe torchao_mx_ceil{.amax = amax_rule::propagate_nan,
                                        .on_zero = zero_rule::as_computed,
                                        .scale_floor = 0.0f,
                                        .power = power_rule::up,
                                        .power_of = power_operand::amax,
                                        .e8m0_operand = e8m0_operand_rule::exponent_field};

/// ScaleCalculationMode.EVEN: the exponent of amax rounded to the format's mantissa. mx<32>.
inline constexpr recipe torchao_mx_even{.amax = amax_rule::propagate_nan,
                                        .on_zero = zero_rule::as_computed,
                                        .scale_floor = 0.0f,
                                        .power = power_rule::after_rounding,
                                        .power_of = power_operand::amax,
                                        .e8m0_operand = e8m0_operand_rule::exponent_field};

/// ScaleCalculationMode.RCEIL: amax / MAX rounded up; a group with code 00 becomes zeros. torchao takes a
/// logarithm in FP32 and misses an amax one unit above 7/8 of a power of two; here it is exact. mx<32>.
inline constexpr recipe torchao_mx_rceil{.amax = amax_rule::propagate_nan,
                                         .on_zero = zero_rule::as_computed,
                                         .on_infinite_amax = bad_amax_rule::largest,
                                         .scale_floor = 0.0f,
                                         .power = power_rule::up,
                                         .e8m0_operand = e8m0_operand_rule::zero_for_00};

// ---- TransformerEngine (d0067d0; transformer_engine/common/recipe, common/cast, common/util/ptx.c

/// TransformerEngine's current scaling (recipe_common.cuh): inverse = MAX / max(amax, amax_epsilon), x *
/// inverse saturating, s = fl(1 / inverse). The kernel's amax leaves NaN out; amax 0 or infinite: s = 1; an
/// infinite inverse becomes FLT_MAX. amax_epsilon is `.amax_floor`. per_tensor.
inline constexpr recipe te_current{.amax = amax_rule::ignore_nan,
                                   .on_infinite_amax = bad_amax_rule::one,
                                   .on_nan_amax = bad_amax_rule::one,
                                   .rule = scale_rule::inverse,
                                   .on_infinite_inverse = infinite_inverse_rule::largest_float,
                                   .scale_floor = 0.0f,
                                   .apply = apply_rule::multiply_inverse};

/// The same with force_pow_2_scales: the inverse rounded down to a power of two.
inline constexpr recipe te_current_power_of_two{.amax = amax_rule::ignore_nan,
                                                .on_infinite_amax = bad_amax_rule::one,
                                                .on_nan_amax = bad_amax_rule::one,
                                                .rule = scale_rule::inverse,
                                                .on_infinite_inverse = infinite_inverse_rule::largest_float,
                                                .scale_floor = 0.0f,
                                                .power = power_rule::floor,
                                                .power_of = power_operand::inverse,
                                                .apply = apply_rule::multiply_inverse};

/// Float8BlockScaling: te_current for each block, a power of two by default (`.power = power_rule::none`
/// where that is off); an infinite inverse becomes the largest number of the input's type. per_group<128> for
/// activations, block_wise<128, 128> for weights.
inline constexpr recipe te_block{.amax = amax_rule::ignore_nan,
                                 .on_infinite_amax = bad_amax_rule::one,
                                 .on_nan_amax = bad_amax_rule::one,
                                 .rule = scale_rule::inverse,
                                 .on_infinite_inverse = infinite_inverse_rule::largest_of_input_type,
                                 .scale_floor = 0.0f,
                                 .power = power_rule::floor,
                                 .power_of = power_operand::inverse,
                                 .apply = apply_rule::multiply_inverse};

/// MXFP8BlockScaling: s = amax * fl(1 / MAX), a product with a constant, rounded up to a power of two
/// (cvt.rp.satfinite.ue8m0x2), x * fl(1 / s). NaN does not count, infinity gives fe; a group with code 00
/// becomes zeros (its reciprocal is taken as 1). mx<32>.
inline constexpr recipe te_mxfp8{.amax = amax_rule::ignore_nan,
                                 .on_zero = zero_rule::as_computed,
                                 .on_infinite_amax = bad_amax_rule::largest,
                                 .rule = scale_rule::amax_times_reciprocal,
                                 .scale_floor = 0.0f,
                                 .power = power_rule::up,
                                 .apply = apply_rule::multiply_reciprocal,
                                 .e8m0_operand = e8m0_operand_rule::zero_for_00};

// ---- OCP Microscaling, compressed-tensors, transformers, ModelOpt, ONNX Runtime -----------------

/// OCP Microscaling 1.0, section 6.3 (oneDNN's dynamic_mx, Universal): s = 2^(floor(log2 amax) - floor(log2
/// MAX)). Elements beyond MAX * s saturate: amax / s reaches 511 in E4M3. mx<32>.
inline constexpr recipe ocp_mx{.power = power_rule::floor, .power_of = power_operand::amax};

/// llm-compressor 0.14 and compressed-tensors 0.20: s = D(amax / MAX) and q = D(x / s) in the input's type, a
/// scale of 0 becomes the epsilon of D, and a zero point of 0 is added, which turns -0 into +0. A NaN makes
/// the group's scale NaN. per_channel, per_tensor, per_group, block_wise<128, 128>.
inline constexpr recipe llm_compressor{.amax = amax_rule::propagate_nan,
                                       .on_zero = zero_rule::epsilon_of_input_type,
                                       .arithmetic = arithmetic::input_type,
                                       .scale_floor = 0.0f,
                                       .on_minus_zero = minus_zero_rule::drop};

/// compressed-tensors 0.20 MXFP8 (compute_dynamic_scales_and_zp with a uint8 scale): the exponent of amax
/// minus 8, plus 1 where its significand is 1.75 or more; overflow, NaN and infinity give s = Inf. The
/// library keeps s as a float; per_group<32> gives its numbers, mx<32> stores ff for Inf.
inline constexpr recipe ct_mx{.amax = amax_rule::propagate_nan,
                              .on_zero = zero_rule::as_computed,
                              .on_infinite_amax = bad_amax_rule::infinite,
                              .on_nan_amax = bad_amax_rule::infinite,
                              .arithmetic = arithmetic::input_type,
                              .scale_floor = 0.0f,
                              .power = power_rule::from_1_75,
                              .power_of = power_operand::amax,
                              .on_minus_zero = minus_zero_rule::drop};

/// transformers 5.24 fine-grained FP8 (Fp8Quantize of integrations/finegrained_fp8.py): inverse = fl(1 /
/// amax) * MAX, torch's `448.0 / tensor`; w * inverse; s = fl(1 / inverse); a zero block gets 1.
/// block_wise<128, 128>.
inline constexpr recipe hf_block{.amax = amax_rule::propagate_nan,
                                 .rule = scale_rule::inverse_torch,
                                 .scale_floor = 0.0f,
                                 .apply = apply_rule::multiply_inverse};

/// The same with scale_fmt = "ue8m0": that s rounded up to a power of two, at least 2^-126, stored as e8m0:
/// scale_block<128, 128, e8m0>. transformers takes a logarithm in FP32; here it is exact.
inline constexpr recipe hf_block_ue8m0{.amax = amax_rule::propagate_nan,
                                       .rule = scale_rule::inverse_torch,
                                       .power = power_rule::up,
                                       .apply = apply_rule::multiply_inverse};

/// nvidia-modelopt 0.47 (FP8QTensor.quantize): s = D(amax / MAX) and D(x / s) in the input's type, no floor:
/// an all-zero group gets s = 0 and NaN codes. per_tensor, per_channel, blocks.
inline constexpr recipe modelopt_fp8{.amax = amax_rule::propagate_nan,
                                     .on_zero = zero_rule::as_computed,
                                     .arithmetic = arithmetic::input_type,
                                     .scale_floor = 0.0f};

/// nvidia-modelopt 0.47 (MXFP8QTensor.quantize): amax / MAX rounded up, code 00 allowed; infinity gives fe,
/// NaN 00. modelopt takes a logarithm in FP32; here it is exact. mx<32>.
inline constexpr recipe modelopt_mx{.amax = amax_rule::propagate_nan,
                                    .on_zero = zero_rule::as_computed,
                                    .on_infinite_amax = bad_amax_rule::largest,
                                    .on_nan_amax = bad_amax_rule::smallest,
                                    .scale_floor = 0.0f,
                                    .power = power_rule::up};

/// ONNX QuantizeLinear (opset 23, ONNX Runtime 1.32) with saturate = 1: x / s with a given s; the NaN's sign
/// is kept. Use it with a static_scale. per_tensor, per_channel.
inline constexpr recipe ort_linear{.conversion = {.nan_sign = nan_sign::keep}};

/// The same with saturate = 0: overflow and infinity become NaN (E4M3) or infinity (E5M2).
inline constexpr recipe ort_linear_nonsaturating{.conversion = {.on_overflow = overflow_rule::nonfinite,
                                                                .on_infinity = overflow_rule::nonfinite,
                                                                .nan_sign = nan_sign::keep}};

}  // namespace recipes

/// A recipe and the name of its constant.
struct named_recipe {
  const char* name;
  recipe how;
};

namespace recipes {

/// Every recipe of this header, for tests, tables and command lines.
inline constexpr named_recipe all[]{{"standard", standard},
                                    {"vllm_tensor_dynamic", vllm_tensor_dynamic},
                                    {"vllm_tensor_static", vllm_tensor_static},
                                    {"vllm_token_cuda", vllm_token_cuda},
                                    {"vllm_token_native", vllm_token_native},
                                    {"vllm_group", vllm_group},
                                    {"vllm_group_ue8m0", vllm_group_ue8m0},
                                    {"vllm_group_native", vllm_group_native},
                                    {"vllm_group_ue8m0_native", vllm_group_ue8m0_native},
                                    {"vllm_block_ue8m0", vllm_block_ue8m0},
                                    {"deepseek_v3", deepseek_v3},
                                    {"deepseek_v3_ue8m0", deepseek_v3_ue8m0},
                                    {"deepgemm", deepgemm},
                                    {"deepgemm_ue8m0", deepgemm_ue8m0},
                                    {"fbgemm_row", fbgemm_row},
                                    {"torchao_train", torchao_train},
                                    {"torchao_train_power_of_two", torchao_train_power_of_two},
                                    {"torchao_infer", torchao_infer},
                                    {"torchao_infer_e8m0", torchao_infer_e8m0},
                                    {"torchao_block", torchao_block},
                                    {"torchao_mx_floor", torchao_mx_floor},
                                    {"torchao_mx_ceil", torchao_mx_ceil},
                                    {"torchao_mx_even", torchao_mx_even},
                                    {"torchao_mx_rceil", torchao_mx_rceil},
                                    {"te_current", te_current},
                                    {"te_current_power_of_two", te_current_power_of_two},
                                    {"te_block", te_block},
                                    {"te_mxfp8", te_mxfp8},
                                    {"ocp_mx", ocp_mx},
                                    {"llm_compressor", llm_compressor},
                                    {"ct_mx", ct_mx},
                                    {"hf_block", hf_block},
                                    {"hf_block_ue8m0", hf_block_ue8m0},
                                    {"modelopt_fp8", modelopt_fp8},
                                    {"modelopt_mx", modelopt_mx},
                                    {"ort_linear", ort_linear},
                                    {"ort_linear_nonsaturating", ort_linear_nonsaturating}};

}  // namespace recipes
}  // namespace ofp8
