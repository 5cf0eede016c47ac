// SPDX-License-Identifier: Apache-2.0
// ofp8: recipe, how a scale is computed from a group's amax and applied to its elements, as data. The stacks
// agree on "amax over the largest number" and on little else; scale/recipes.hpp has theirs by name.
//
//   quantize<e4m3, per_token>(x)                                            // the default
//   quantize<e4m3, block_wise<128, 128>>(w, recipes::deepseek_v3);
//   quantize<e4m3, per_token>(x, {.amax_floor = 1e-4f, .apply = apply_rule::multiply_reciprocal});
//
// A scale s is the dequantization multiplier, real = code * s; MAX is the largest finite number of the
// format. The steps, in order (scale_step_for in scale/scale_step.hpp is their definition):
//   1. amax of the group                                           .amax
//   2. a = max(min(amax, .amax_ceiling), .amax_floor)              a NaN stays NaN
//   3. zero, infinite, NaN a                                       .on_zero .on_infinite_amax .on_nan_amax
//   4. s from a, directly or as the inverse of an inverse          .rule .on_infinite_inverse
//   5. rounding to the input's type                                .arithmetic
//   6. s = max(s, .scale_floor, 1 / (MAX * .scale_floor_divisor))
//   7. rounding to a power of two, of s, the inverse or a          .power .power_of
//   8. rounding to the type that the scale is stored in
//   9. q = x / s, x * fl(1/s) or x * inverse                       .apply .e8m0_operand .arithmetic
//  10. code = convert(q)                                           .conversion .on_nan .on_minus_zero
#pragma once

#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/policy.hpp>

namespace ofp8 {

/// Which elements count for an amax.
enum class amax_rule : std::uint8_t {
  finite_only,   ///< NaN and infinity are left out
  ignore_nan,    ///< NaN is left out, infinity counts: CUDA's fmaxf
  propagate_nan  ///< any NaN makes the amax NaN: torch.amax
};

/// How s comes from a. Unless said otherwise every operation is one IEEE operation in FP32.
enum class scale_rule : std::uint8_t {
  amax_over_max,          ///< s = a / MAX
  amax_times_reciprocal,  ///< s = a * fl(1 / MAX): a constant, one rounding away from the quotient
  inverse,                ///< inverse = MAX / a, s = 1 / inverse
  inverse_torch,          ///< inverse = fl(1 / a) * MAX, torch's `448.0 / tensor`; s = 1 / inverse
  inverse_double,         ///< inverse = fl32(MAX / a), the division in double; s = 1 / inverse
  inverse_torch_double    ///< inverse = fl32(fl64(1 / a) * MAX), in double; s = 1 / inverse
};

/// Which power of two a positive number m * 2^e, 1 <= m < 2, becomes. By integer arithmetic, never by a
/// floating-point logarithm, which is wrong next to powers of two. Zero, infinity and NaN stay.
enum class power_rule : std::uint8_t {
  none,           ///< it stays what it is (an e8m0 scale then rounds up)
  floor,          ///< 2^e
  up,             ///< 2^(e+1) unless m is 1
  nearest_up,     ///< 2^(e+1) from m = 1.5
  nearest_log2,   ///< 2^(e+1) from m = sqrt(2): exp2(round(log2 s)). Where the recipe rounds s to a 16-bit
                  ///< input type, log2 s is rounded to that type as well (torchao)
  from_1_75,      ///< 2^(e+1) from m = 1.75: compressed-tensors
  after_rounding  ///< 2^(e+1) where m rounds up to 2 in the code format's mantissa: from 1.9375 in E4M3
};

/// What is rounded to a power of two.
enum class power_operand : std::uint8_t {
  scale,    ///< s
  inverse,  ///< the inverse of the inverse rules; s = 1 / it, exact
  amax      ///< a, and then s = 2^(exponent of a - exponent of MAX), at least 2^-127: the OCP MX rule
};

enum class zero_rule : std::uint8_t {
  one,                   ///< a = 0: s = 1
  as_computed,           ///< whatever the formula gives: s = 0, or the floor
  epsilon_of_input_type  ///< a computed s of 0 becomes 2^-23 (float), 2^-7 (bf16), 2^-10 (fp16)
};

/// What an infinite or NaN a makes of s. An a whose power of two is 2^128 counts as infinite.
enum class bad_amax_rule : std::uint8_t {
  as_computed,  ///< whatever the formula gives; the exponent of an infinite a is 128
  one,          ///< s = 1
  infinite,     ///< s = Inf (as an e8m0: ff)
  largest,      ///< s = 2^127
  smallest      ///< s = 2^-127
};

enum class infinite_inverse_rule : std::uint8_t {
  keep,                  ///< s = 1 / Inf = 0
  largest_float,         ///< the inverse becomes the largest finite float
  largest_of_input_type  ///< the inverse becomes the largest finite number of the input's type
};

/// Which number an e8m0 scale is when elements are divided by it.
enum class e8m0_operand_rule : std::uint8_t {
  value,           ///< what the code means: 00 is 2^-127, ff is NaN
  exponent_field,  ///< the code as a float's exponent field: 00 divides as 2^-126, ff as infinity (torchao's
                   ///< floor, ceil and even modes)
  zero_for_00      ///< a group with code 00 becomes all zeros (torchao's rceil mode)
};

/// How elements meet the scale. The operand is what was stored, after all roundings.
enum class apply_rule : std::uint8_t {
  divide,               ///< x / s
  multiply_reciprocal,  ///< x * fl(1 / s)
  multiply_inverse      ///< x * inverse, where a rule computed one and steps 5 to 8 left s as it was; else as
                        ///< multiply_reciprocal
};

enum class arithmetic : std::uint8_t {
  float32,
  scale_in_input_type,  ///< s is rounded to the input's type, the quotient is FP32
  input_type            ///< s and the quotient x / s are rounded to the input's type
};

enum class nan_rule : std::uint8_t {
  nan,     ///< a NaN quotient becomes NaN, as the conversion has it
  largest  ///< a NaN quotient becomes +MAX: fminf and fmaxf clamped it
};

enum class minus_zero_rule : std::uint8_t {
  keep,
  drop  ///< a quotient of -0 becomes +0 (a zero point of 0 was added); underflow to -0 in the code stays
};

/// One way to compute and apply scales. An aggregate: name what differs from the default.
struct recipe {
  amax_rule amax = amax_rule::finite_only;
  float amax_floor = 0.0f;
  float amax_ceiling = detail::float_from_bits(detail::float_infinity);  ///< vLLM's scale_ub
  zero_rule on_zero = zero_rule::one;
  bad_amax_rule on_infinite_amax = bad_amax_rule::as_computed;
  bad_amax_rule on_nan_amax = bad_amax_rule::as_computed;
  scale_rule rule = scale_rule::amax_over_max;
  infinite_inverse_rule on_infinite_inverse = infinite_inverse_rule::keep;
  ofp8::arithmetic arithmetic = ofp8::arithmetic::float32;
  float scale_floor = 0x1p-126f;     ///< 0: none. Above 0 an s below the normals of the stored type is the
                                     ///< smallest of them, so that e8m0 codes start at 01
  float scale_floor_divisor = 0.0f;  ///< above 0: s is at least 1 / (MAX * this)
  power_rule power = power_rule::none;
  power_operand power_of = power_operand::scale;
  apply_rule apply = apply_rule::divide;
  e8m0_operand_rule e8m0_operand = e8m0_operand_rule::value;
  policy conversion = saturating;
  nan_rule on_nan = nan_rule::nan;
  minus_zero_rule on_minus_zero = minus_zero_rule::keep;
};

}  // namespace ofp8
