// SPDX-License-Identifier: Apache-2.0
// ofp8: scale_step_for, the definition of a recipe: from a group's amax to the scale that is stored and the
// operand that its elements are divided by or multiplied with.
//
//   scale_step step = scale_step_for<e4m3, float, bf16>(recipes::llm_compressor, amax);
//   // step.scale is stored; a code is convert<e4m3>(x / step.operand) or convert<e4m3>(x * step.operand)
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>

namespace ofp8 {

/// What a group needs: its scale as stored (exact in the scale's type) and the operand of its elements.
struct scale_step {
  float scale;    ///< dequantization multiplier
  float operand;  ///< x / operand, or x * operand
  bool divide;
};

namespace detail {

/// A type that a scale, a quotient or an input is rounded to, as a run-time value.
enum class number_type : std::uint8_t { float32, bfloat16, float16, exponent_only };

template <class T>
inline constexpr number_type number_type_of = std::same_as<T, bf16>   ? number_type::bfloat16
                                              : std::same_as<T, fp16> ? number_type::float16
                                              : std::same_as<T, e8m0> ? number_type::exponent_only
                                                                      : number_type::float32;

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

inline constexpr float largest_of(detail::number_type type) noexcept {
  return detail::float_from_bits(type == detail::number_type::bfloat16  ? 0x7f7f'0000u
                                 : type == detail::number_type::float16 ? 0x477f'e000u  // 65504
                                                                        : 0x7f7f'ffffu);
}
inline constexpr float smallest_normal_of(detail::number_type type) noexcept {
  return detail::power_of_two(type == detail::number_type::float16 ? -14 : -126);
}
inline constexpr float epsilon_of(detail::number_type type) noexcept {
  return detail::power_of_two(type == detail::number_type::bfloat16  ? -7
                              : type == detail::number_type::float16 ? -10
                                                                     : -23);
}

/// `x` rounded to `type` once, nearest even, overflow to infinity (e8m0 is not rounded here).
inline constexpr float rounded_to(detail::number_type type, float x) noexcept {
  if (type == detail::number_type::bfloat16) return static_cast<float>(convert<bf16>(x));
  if (type == detail::number_type::float16) return static_cast<float>(convert<fp16>(x));
  return x;
}

/// Larger of two positive numbers, a NaN winning: an integer maximum.
inline constexpr float larger(float a, float b) noexcept {
  return detail::magnitude_bits(a) >= detail::magnitude_bits(b) ? a : b;
}

/// Exponent of the power of two that `x` (not negative, not NaN) becomes; that of infinity is 128, that of
/// zero is -150.
inline constexpr int power_exponent(float x, power_rule rule, int mantissa_bits) noexcept {
  const std::uint32_t bits = detail::magnitude_bits(x);
  if (bits == 0) return -150;
  const int top = bits >= detail::float_smallest_normal ? 23 : detail::highest_bit(bits);
  const int exponent = bits >= detail::float_smallest_normal ? static_cast<int>(bits >> 23) - 127 : top - 149;
  const std::uint32_t fraction = (bits << (23 - top)) & 0x7f'ffffu;  // of m, 1 <= m < 2
  std::uint32_t threshold = 0x80'0000u;                              // never
  switch (rule) {
    case power_rule::none:
    case power_rule::floor:
      break;
    case power_rule::up:
      threshold = 1;
      break;
    case power_rule::nearest_up:
      threshold = 0x40'0000u;
      break;
    case power_rule::nearest_log2:
      threshold = 0x35'04f4u;  // the first float above sqrt(2)
      break;
    case power_rule::from_1_75:
      threshold = 0x60'0000u;
      break;
    case power_rule::after_rounding:
      threshold = 0x80'0000u - (1u << (22 - mantissa_bits));
      break;
  }
  return exponent + (fraction >= threshold ? 1 : 0);
}

/// 2^exponent clamped to what an e8m0 can say; 128 is infinity.
inline constexpr float clamped_power(int exponent) noexcept {
  if (exponent > 127) return detail::float_from_bits(detail::float_infinity);
  return detail::power_of_two(exponent < -127 ? -127 : exponent);
}

/// NaN and infinity are no numbers to round and stay.
inline constexpr float to_power_of_two(float x, power_rule rule, int mantissa_bits) noexcept {
  if (rule == power_rule::none || !detail::is_finite(x)) return x;
  return clamped_power(power_exponent(x, rule, mantissa_bits));
}

inline constexpr bool computes_inverse(scale_rule rule) noexcept {
  return rule != scale_rule::amax_over_max && rule != scale_rule::amax_times_reciprocal;
}

/// `s` as the scale's type stores it. A finite s does not become infinite; the e8m0 of what is not finite is
/// ff (NaN); NaN scales are canonical.
inline constexpr float rounded_scale(detail::number_type type, float s) noexcept {
  if (type == detail::number_type::exponent_only)
    return static_cast<float>(convert_e8m0(s, e8m0_rounding::up));
  const float rounded = detail::canonical(rounded_to(type, s));
  return detail::is_finite(s) && !detail::is_finite(rounded) ? largest_of(type) : rounded;
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
  if (too_large && r.on_infinite_inverse == infinite_inverse_rule::largest_of_input_type)
    inverse = largest_of(input);
  return inverse;
}

// Step 6: no floor under a NaN.
inline constexpr float raised_to_floor(const recipe& r, float s, float max,
                                       detail::number_type stored) noexcept {
  if (detail::is_nan(s)) return s;
  if (r.scale_floor_divisor > 0.0f) s = larger(s, 1.0f / (max * r.scale_floor_divisor));
  if (r.scale_floor > 0.0f) s = larger(s, larger(r.scale_floor, smallest_normal_of(stored)));
  return s;
}

// Step 9. `inverse` is what multiply_inverse takes.
inline constexpr scale_step applied(const recipe& r, float scale, float inverse) noexcept {
  if (r.apply == apply_rule::divide) return {scale, scale, true};
  return {scale, r.apply == apply_rule::multiply_inverse ? inverse : 1.0f / scale, false};
}

// A scale that no formula gives.
inline constexpr scale_step fixed_step(const recipe& r, float scale, detail::number_type stored) noexcept {
  const float s = rounded_scale(stored, scale);
  return applied(r, s, 1.0f / s);
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
  const bad_amax_rule bad = a_bits > detail::float_infinity    ? r.on_nan_amax
                            : a_bits == detail::float_infinity ? r.on_infinite_amax
                                                               : bad_amax_rule::as_computed;
  if (bad != bad_amax_rule::as_computed) return fixed_step(r, bad_amax_scale(bad), stored);

  // 4. The scale, with the power of two where it is not taken of s itself.
  float s = 0.0f;
  float inverse = 0.0f;
  if (r.power_of == power_operand::amax && r.power != power_rule::none) {
    s = detail::is_nan(a)
            ? a
            : clamped_power(power_exponent(a, r.power, codes.mantissa_bits) - codes.max_exponent);
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
  if (r.power_of == power_operand::scale) s = to_power_of_two(s, r.power, codes.mantissa_bits);
  s = rounded_scale(stored, s);

  // 9. An inverse is kept only for the very scale that came from it.
  const bool kept = computes_inverse(r.rule) && detail::bits_of(s) == detail::bits_of(computed);
  return applied(r, s, kept ? inverse : 1.0f / s);
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

/// The operand for a scale that is given.
inline constexpr scale_step static_scale_step(const recipe& r, float scale) noexcept {
  return impl::recipe_steps::applied(r, scale, 1.0f / scale);
}

/// What a recipe makes of one element before it is converted: the quotient, rounded to the input's type where
/// the recipe computes in it, -0 dropped where the recipe drops it. A NaN stays NaN here.
template <class Input = float>
inline constexpr float scaled_element(const recipe& r, const scale_step& step, float x) noexcept {
  float q = step.divide ? x / step.operand : x * step.operand;
  if (r.arithmetic == arithmetic::input_type)
    q = impl::recipe_steps::rounded_to(detail::number_type_of<Input>, q);
  if (r.on_minus_zero == minus_zero_rule::drop && detail::bits_of(q) == detail::float_sign) q = 0.0f;
  return q;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
