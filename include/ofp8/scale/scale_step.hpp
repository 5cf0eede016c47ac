// SPDX-License-Identifier: Apache-2.0
// ofp8: scale_step_for, the definition of a recipe: from a group's amax to the scale that is stored and the
// operand that its elements are divided by or multiplied with.
//
//   scale_step step = scale_step_for<e4m3, float, bf16>(recipes::llm_compressor, amax);
//   // step.scale is stored; a code is convert<e4m3>(x / step.operand) or convert<e4m3>(x * step.operand)
#pragma once

#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_rounding.hpp>

namespace ofp8 {

/// What a group needs: its scale as stored (exact in the scale's type) and the operand of its elements.
struct scale_step {
  float scale;    ///< dequantization multiplier
  float operand;  ///< x / operand, or x * operand
  bool divide;
};

namespace detail {

/// What a recipe asks of the code format.
struct code_range {
  float max;         ///< largest finite number
  int max_exponent;  ///< of it: 8 in E4M3
  int mantissa_bits;
};

// int8 codes are symmetric: -127 .. 127.
template <class E>
consteval code_range code_range_of() {
  if constexpr (requires { E::spec; }) {
    return {widen(E::spec, E::spec.largest_code()), E::spec.max_exponent(), E::spec.mantissa_bits};
  } else {
    return {127.0f, 6, 6};
  }
}

/// Largest bits that count for an amax under a rule: an amax is an integer maximum over magnitude bits up to
/// this.
OFP8_INLINE constexpr std::uint32_t amax_limit(amax_rule rule) noexcept {
  return rule == amax_rule::finite_only  ? float_infinity - 1
         : rule == amax_rule::ignore_nan ? float_infinity
                                         : float_magnitude;
}

}  // namespace detail
}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::recipe_steps {

inline constexpr bool computes_inverse(scale_rule rule) noexcept {
  return rule != scale_rule::amax_over_max && rule != scale_rule::amax_times_reciprocal;
}

// Step 4 of the recipe, the inverse rules.
inline constexpr float inverse_of(const recipe& r, float a, float max, detail::number_type input) noexcept {
  float inverse = 0.0f;
  switch (r.rule) {
    case scale_rule::inverse_torch:
      inverse = (1.0f / a) * max;
      break;
    case scale_rule::inverse_double:
      inverse = static_cast<float>(static_cast<double>(max) / static_cast<double>(a));
      break;
    case scale_rule::inverse_torch_double:
      inverse = static_cast<float>((1.0 / static_cast<double>(a)) * static_cast<double>(max));
      break;
    default:
      inverse = max / a;
  }
  const bool too_large = detail::magnitude_bits(inverse) == detail::float_infinity;
  if (too_large && r.on_infinite_inverse != infinite_inverse_rule::keep)
    inverse = largest_of(
        r.on_infinite_inverse == infinite_inverse_rule::largest_float ? detail::number_type::float32 : input);
  return inverse;
}

// Step 6. A NaN is larger than any floor.
inline constexpr float raised_to_floor(const recipe& r, float s, float max,
                                       detail::number_type stored) noexcept {
  if (r.scale_floor_divisor > 0.0f) s = larger(s, 1.0f / (max * r.scale_floor_divisor));
  if (r.scale_floor > 0.0f) s = larger(s, larger(r.scale_floor, smallest_normal_of(stored)));
  return s;
}

// Step 9. `inverse` is what multiply_inverse takes.
inline constexpr scale_step applied(const recipe& r, float scale, float inverse,
                                    detail::number_type stored) noexcept {
  float s = scale;
  if (stored == detail::number_type::exponent_only && r.e8m0_operand != e8m0_operand_rule::value) {
    const bool lowest = detail::bits_of(s) == detail::bits_of(detail::power_of_two(-127));
    if (r.e8m0_operand == e8m0_operand_rule::zero_for_00) return {scale, lowest ? 0.0f : 1.0f / s, false};
    if (lowest) s = detail::power_of_two(-126);
    if (detail::is_nan(s)) s = detail::float_from_bits(detail::float_infinity);
  }
  if (r.apply == apply_rule::divide) return {scale, s, true};
  return {scale, r.apply == apply_rule::multiply_inverse ? inverse : 1.0f / s, false};
}

// A scale that no formula gives.
inline constexpr scale_step fixed_step(const recipe& r, float scale, detail::number_type stored) noexcept {
  const float s = rounded_scale(stored, scale);
  return applied(r, s, 1.0f / s, stored);
}

inline constexpr float bad_amax_scale(bad_amax_rule rule) noexcept {
  switch (rule) {
    case bad_amax_rule::infinite:
      return detail::float_from_bits(detail::float_infinity);
    case bad_amax_rule::largest:
      return detail::power_of_two(127);
    case bad_amax_rule::smallest:
      return detail::power_of_two(-127);
    default:
      return 1.0f;
  }
}

inline constexpr scale_step scale_step_at(const recipe& r, float amax, const detail::code_range& codes,
                                          detail::number_type input, detail::number_type stored) noexcept {
  // 2. Bounds, which a NaN passes.
  float a = amax;
  if (!detail::is_nan(a)) {
    if (detail::magnitude_bits(a) > detail::magnitude_bits(r.amax_ceiling)) a = r.amax_ceiling;
    a = larger(a, r.amax_floor);
  }

  // 3. What is no number to divide.
  const std::uint32_t a_bits = detail::magnitude_bits(a);
  if (a_bits == 0 && r.on_zero == zero_rule::one) return fixed_step(r, 1.0f, stored);
  const bool of_amax = r.power_of == power_operand::amax && r.power != power_rule::none;
  const int a_exponent = of_amax ? power_exponent(a, r.power, codes.mantissa_bits) : 0;
  const bad_amax_rule bad = a_bits > detail::float_infinity ? r.on_nan_amax
                            : a_bits == detail::float_infinity || a_exponent == 128
                                ? r.on_infinite_amax
                                : bad_amax_rule::as_computed;
  if (bad != bad_amax_rule::as_computed) return fixed_step(r, bad_amax_scale(bad), stored);

  // 4. The scale, with the power of two where it is not taken of s itself.
  float s = 0.0f;
  float inverse = 0.0f;
  if (of_amax) {
    const int exponent = a_exponent - codes.max_exponent;
    s = detail::is_nan(a) ? a : power_or_infinity(exponent < -127 ? -127 : exponent);
  } else if (computes_inverse(r.rule)) {
    inverse = inverse_of(r, a, codes.max, input);
    if (r.power_of == power_operand::inverse)
      inverse = to_power_of_two(inverse, r.power, codes.mantissa_bits);
    s = 1.0f / inverse;
  } else {
    s = r.rule == scale_rule::amax_over_max ? a / codes.max : a * (1.0f / codes.max);
  }

  // 5. - 8. Rounded, floored, a power of two, stored.
  const float computed = s;
  if (r.arithmetic != arithmetic::float32) s = rounded_to(input, s);
  if (detail::magnitude_bits(s) == 0 && r.on_zero == zero_rule::epsilon_of_input_type) s = epsilon_of(input);
  s = raised_to_floor(r, s, codes.max, stored);
  if (r.power_of == power_operand::scale) {
    const bool rounded_log = r.power == power_rule::nearest_log2 && r.arithmetic != arithmetic::float32;
    s = rounded_log ? nearest_by_rounded_log2(s, input) : to_power_of_two(s, r.power, codes.mantissa_bits);
  }
  s = rounded_scale(stored, s);

  // 9. An inverse is kept only for the very scale that came from it.
  const bool kept = computes_inverse(r.rule) && detail::bits_of(s) == detail::bits_of(computed);
  return applied(r, s, kept ? inverse : 1.0f / s, stored);
}

}  // namespace impl::recipe_steps

/// The scale and operand of a group with the given amax, for codes E, scales stored as Scale and elements of
/// type Input (float, bf16 or fp16). `amax` is not negative: a finite number, infinity or NaN, as `r.amax`
/// found it. Run it in the environment of detail::fp_environment_guard.
template <class E, scale_type Scale = float, class Input = float>
inline constexpr scale_step scale_step_for(const recipe& r, float amax) noexcept {
  return impl::recipe_steps::scale_step_at(r, amax, detail::code_range_of<E>(), detail::number_type_of<Input>,
                                           detail::number_type_of<Scale>);
}

/// The operand for a scale that is given, exact in the type Scale that it is stored in.
template <scale_type Scale = float>
inline constexpr scale_step static_scale_step(const recipe& r, float scale) noexcept {
  return impl::recipe_steps::applied(r, scale, 1.0f / scale, detail::number_type_of<Scale>);
}

/// What a recipe makes of one element before it is converted: the quotient, rounded to the input's type where
/// the recipe computes in it, -0 dropped where the recipe drops it. A NaN stays NaN here and takes the sign
/// of x: what 0 / 0 gives differs between machines.
template <class Input = float>
inline constexpr float scaled_element(const recipe& r, const scale_step& step, float x) noexcept {
  float q = step.divide ? x / step.operand : x * step.operand;
  if (r.arithmetic == arithmetic::input_type)
    q = impl::recipe_steps::rounded_to(detail::number_type_of<Input>, q);
  if (r.on_minus_zero == minus_zero_rule::drop && detail::bits_of(q) == detail::float_sign) q = 0.0f;
  if (detail::is_nan(q))
    q = detail::float_from_bits(detail::float_quiet_nan | (detail::bits_of(x) & detail::float_sign));
  return q;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
