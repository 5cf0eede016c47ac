// SPDX-License-Identifier: Apache-2.0
// ofp8: bit patterns of floats, and the NaN tests that -ffast-math cannot remove.
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>

namespace ofp8::detail {

// __builtin_bit_cast and not std::bit_cast: nvcc and -ffast-math both leave it alone, and it leaves no symbol
// behind.
OFP8_INLINE constexpr std::uint32_t bits_of(float x) noexcept { return __builtin_bit_cast(std::uint32_t, x); }
OFP8_INLINE constexpr std::uint64_t bits_of(double x) noexcept {
  return __builtin_bit_cast(std::uint64_t, x);
}
OFP8_INLINE constexpr float float_from_bits(std::uint32_t b) noexcept { return __builtin_bit_cast(float, b); }
OFP8_INLINE constexpr double double_from_bits(std::uint64_t b) noexcept {
  return __builtin_bit_cast(double, b);
}

inline constexpr std::uint32_t float_sign = 0x8000'0000u;
inline constexpr std::uint32_t float_magnitude = 0x7fff'ffffu;
inline constexpr std::uint32_t float_infinity = 0x7f80'0000u;  // also the mask of the exponent field
inline constexpr std::uint32_t float_quiet_nan = 0x7fc0'0000u;
inline constexpr std::uint32_t float_smallest_normal = 0x0080'0000u;

OFP8_INLINE constexpr std::uint32_t magnitude_bits(float x) noexcept { return bits_of(x) & float_magnitude; }
OFP8_INLINE constexpr bool is_nan(float x) noexcept { return magnitude_bits(x) > float_infinity; }
OFP8_INLINE constexpr bool is_finite(float x) noexcept { return magnitude_bits(x) < float_infinity; }

/// NaN becomes the canonical quiet NaN 7fc00000, everything else stays as it is.
OFP8_INLINE constexpr float canonical(float x) noexcept {
  return is_nan(x) ? float_from_bits(float_quiet_nan) : x;
}

/// 2^e for -149 <= e <= 127, exact, without a library call.
OFP8_INLINE constexpr float power_of_two(int e) noexcept {
  return float_from_bits(e >= -126 ? static_cast<std::uint32_t>(e + 127) << 23 : 1u << (e + 149));
}

/// Position of the highest set bit (0 for 1); x > 0.
OFP8_INLINE constexpr int highest_bit(std::uint64_t x) noexcept { return 63 - __builtin_clzll(x); }

/// The double of a float. A subnormal goes by integers: the conversion instruction reads it as zero under DAZ.
OFP8_INLINE constexpr double exact_double(float x) noexcept {
  const std::uint64_t magnitude = magnitude_bits(x);
  if (magnitude == 0 || magnitude >= float_smallest_normal) return static_cast<double>(x);
  const int top = highest_bit(magnitude);  // the value is 1.xxx * 2^(top - 149)
  const std::uint64_t sign = std::uint64_t{bits_of(x) & float_sign} << 32;
  const std::uint64_t field = static_cast<std::uint64_t>(top - 149 + 1023);
  return double_from_bits(sign | (field << 52) |
                          ((magnitude << (52 - top)) & ((std::uint64_t{1} << 52) - 1)));
}

}  // namespace ofp8::detail
