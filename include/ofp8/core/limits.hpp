// SPDX-License-Identifier: Apache-2.0
// ofp8: std::numeric_limits of a small format, derived from its format_spec.
#pragma once

#include <cstdint>
#include <limits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>

namespace ofp8::detail {

// log10(2) to seven digits decides floor and ceil for every exponent below 10,000.
OFP8_INLINE constexpr int floor_log10_of_power_of_two(int e) noexcept {
  const long long scaled = static_cast<long long>(e) * 3010300;
  return static_cast<int>(scaled >= 0 ? scaled / 10000000 : -((-scaled + 9999999) / 10000000));
}

/// The members of std::numeric_limits<T> for a T with T::spec and T::from_bits.
template <class T>
struct format_limits {
  static constexpr format_spec spec = T::spec;

  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool is_iec559 = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr bool has_infinity = spec.has_infinity();
  static constexpr bool has_quiet_NaN = true;
  // An ieee format has room for a signalling NaN: the quiet bit clear, a payload set.
  static constexpr bool has_signaling_NaN = spec.has_infinity();
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;

  static constexpr int radix = 2;
  static constexpr int digits = spec.mantissa_bits + 1;
  static constexpr int digits10 = floor_log10_of_power_of_two(digits - 1);
  static constexpr int max_digits10 = floor_log10_of_power_of_two(digits) + 2;
  static constexpr int min_exponent = spec.min_exponent() + 1;
  static constexpr int max_exponent = spec.max_exponent() + 1;
  // Smallest n with 10^n >= min(), largest n with 10^n <= max(). The largest finite number is at least 1.5
  // times its power of two in every format here and never reaches the next power of ten.
  static constexpr int min_exponent10 = -floor_log10_of_power_of_two(-spec.min_exponent());
  static constexpr int max_exponent10 = floor_log10_of_power_of_two(spec.max_exponent());

  // The names are in parentheses so that the min and max macros of windows.h cannot break them.
  OFP8_INLINE_MEMBER static constexpr T(min)() noexcept { return T::from_bits(spec.smallest_normal_code()); }
  OFP8_INLINE_MEMBER static constexpr T(max)() noexcept { return T::from_bits(spec.largest_code()); }
  OFP8_INLINE_MEMBER static constexpr T lowest() noexcept {
    return T::from_bits(spec.largest_code() | spec.sign_mask());
  }
  OFP8_INLINE_MEMBER static constexpr T denorm_min() noexcept { return T::from_bits(1); }
  /// 2^-mantissa_bits: the distance from 1 to the next number.
  OFP8_INLINE_MEMBER static constexpr T epsilon() noexcept { return power_of_two(-spec.mantissa_bits); }
  OFP8_INLINE_MEMBER static constexpr T round_error() noexcept { return power_of_two(-1); }
  /// Where the format has no infinity this is the canonical NaN: not a finite number.
  OFP8_INLINE_MEMBER static constexpr T infinity() noexcept {
    return T::from_bits(spec.has_infinity() ? spec.infinity_code() : spec.canonical_nan());
  }
  OFP8_INLINE_MEMBER static constexpr T quiet_NaN() noexcept { return T::from_bits(quiet_nan_code()); }
  OFP8_INLINE_MEMBER static constexpr T signaling_NaN() noexcept {
    return T::from_bits(spec.has_infinity() ? spec.infinity_code() | 1u : spec.canonical_nan());
  }

 private:
  // 16-bit formats follow IEEE: quiet bit only. The FP8 formats use the code of convert(NaN).
  OFP8_INLINE_MEMBER static constexpr std::uint32_t quiet_nan_code() noexcept {
    return spec.bits() == 8 ? spec.canonical_nan() : spec.infinity_code() | (1u << (spec.mantissa_bits - 1));
  }
  // A normal power of two where the format reaches it, the subnormal otherwise (epsilon of a wide bias).
  OFP8_INLINE_MEMBER static constexpr T power_of_two(int e) noexcept {
    return e >= spec.min_exponent()
               ? T::from_bits(static_cast<std::uint32_t>(e + spec.bias) << spec.mantissa_bits)
               : T::from_bits(1u << (e - spec.quantum_exponent()));
  }
};

}  // namespace ofp8::detail
