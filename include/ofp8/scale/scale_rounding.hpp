// SPDX-License-Identifier: Apache-2.0
// ofp8: the roundings of a recipe: to a 16-bit type, to a power of two under each rule, to the type that a
// scale is stored in. Integer arithmetic on bits; used by scale_step_for.
#pragma once

#include <concepts>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/scale/recipe.hpp>

namespace ofp8::detail {

/// A type that a scale, a quotient or an input is rounded to, as a run-time value.
enum class number_type : std::uint8_t { float32, bfloat16, float16, exponent_only };

template <class T>
inline constexpr number_type number_type_of = std::same_as<T, bf16>   ? number_type::bfloat16
                                              : std::same_as<T, fp16> ? number_type::float16
                                              : std::same_as<T, e8m0> ? number_type::exponent_only
                                                                      : number_type::float32;

}  // namespace ofp8::detail

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

/// 2^exponent; 128 and more is infinity.
inline constexpr float power_or_infinity(int exponent) noexcept {
  return exponent > 127 ? detail::float_from_bits(detail::float_infinity) : detail::power_of_two(exponent);
}

/// Zero, infinity and NaN stay.
inline constexpr float to_power_of_two(float x, power_rule rule, int mantissa_bits) noexcept {
  if (rule == power_rule::none || detail::magnitude_bits(x) == 0 || !detail::is_finite(x)) return x;
  return power_or_infinity(power_exponent(x, rule, mantissa_bits));
}

/// Whether the logarithm e + f of m * 2^e, rounded to a type of `digits` significant bits and then to an
/// integer, ties to even, is e + 1. Let q be the spacing of that type at the logarithm. The first rounding
/// gives e + 1/2, a tie, for f within q/2 of 1/2; else the side that f is on. With f = log2 m, "f > 1/2 +
/// q/2" is (m * m / 2)^(1/q) > 2: repeated squaring instead of a logarithm.
inline constexpr bool rounded_log2_rounds_up(double m, int exponent, int digits) noexcept {
  const double half_squared = m * m / 2.0;
  const int half_steps = exponent >= 0 ? 2 * exponent + 1 : -2 * exponent - 1;  // |e + 1/2|, doubled
  const int log_binade = detail::highest_bit(static_cast<std::uint32_t>(half_steps)) - 1;
  double power = half_squared;  // to the 1/q = 2^(digits - 1 - log_binade)
  for (int i = log_binade; i < digits - 1 && power > 0.5 && power <= 2.0; ++i) power *= power;
  if (power > 2.0) return true;
  if (power <= 0.5) return false;
  return log_binade < digits - 1 ? exponent % 2 != 0 : half_squared > 1.0;
}

/// exp2(round(log2 x)) in the arithmetic of `type`: the logarithm of a 16-bit x is a number of its type,
/// which next to sqrt(2) moves the decision (by 3% of the range of m for a bf16 x near 2^-10).
inline constexpr float nearest_by_rounded_log2(float x, detail::number_type type) noexcept {
  const bool sixteen = type == detail::number_type::bfloat16 || type == detail::number_type::float16;
  if (!sixteen || detail::magnitude_bits(x) == 0 || !detail::is_finite(x))
    return to_power_of_two(x, power_rule::nearest_log2, 0);
  const std::uint64_t wide = detail::bits_of(detail::exact_double(x));  // a subnormal x is a normal double
  const int exponent = static_cast<int>((wide >> 52) & 0x7ff) - 1023;
  const double m = detail::double_from_bits((wide & 0xf'ffff'ffff'ffff) | 0x3ff0'0000'0000'0000);
  const bool up = rounded_log2_rounds_up(m, exponent, type == detail::number_type::bfloat16 ? 8 : 11);
  return power_or_infinity(exponent + (up ? 1 : 0));
}

/// `s` as the scale's type stores it. A finite s does not become infinite; the e8m0 of what is not finite is
/// ff (NaN); NaN scales are canonical.
inline constexpr float rounded_scale(detail::number_type type, float s) noexcept {
  if (type == detail::number_type::exponent_only)
    return static_cast<float>(convert_e8m0(s, e8m0_rounding::up));
  const float rounded = detail::canonical(rounded_to(type, s));
  return detail::is_finite(s) && !detail::is_finite(rounded) ? largest_of(type) : rounded;
}

}  // namespace impl::recipe_steps
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
