// SPDX-License-Identifier: Apache-2.0
// ofp8: e8m0, the power-of-two scale of the MX formats: code c is 2^(c - 127), ff is NaN; no sign, no zero,
// no infinity. The libraries round to it in four different ways, so the direction is always an argument.
//
//   e8m0 s = convert_e8m0(0.3f, e8m0_rounding::up);       // 2^-1
//   float f = float(s);                                    // 0.5f
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8 {

/// An 8-bit power of two, 2^-127 .. 2^127 (OCP Microscaling 1.0, section 5.4.1).
struct e8m0 {
  std::uint8_t code;

  e8m0() = default;

  OFP8_INLINE_MEMBER static constexpr e8m0 from_bits(unsigned bits) noexcept {
    return e8m0(static_cast<std::uint8_t>(bits), from_code{});
  }
  OFP8_INLINE_MEMBER constexpr std::uint8_t bits() const noexcept { return code; }

  /// Exact: 00 is 2^-127 (a subnormal float), ff is NaN.
  OFP8_INLINE_MEMBER explicit constexpr operator float() const noexcept {
    return code == 0xff ? detail::float_from_bits(detail::float_quiet_nan) : detail::power_of_two(code - 127);
  }
  OFP8_INLINE_MEMBER explicit constexpr operator double() const noexcept {
    return detail::exact_double(static_cast<float>(*this));
  }

  OFP8_INLINE_MEMBER friend constexpr bool operator==(e8m0 a, e8m0 b) noexcept {
    return !isnan(a) && a.code == b.code;
  }
  OFP8_INLINE_MEMBER friend constexpr std::partial_ordering operator<=>(e8m0 a, e8m0 b) noexcept {
    if (isnan(a) || isnan(b)) return std::partial_ordering::unordered;
    return a.code <=> b.code;
  }
  OFP8_INLINE_MEMBER friend constexpr bool isnan(e8m0 x) noexcept { return x.code == 0xff; }

 private:
  struct from_code {};
  OFP8_INLINE_MEMBER constexpr e8m0(std::uint8_t c, from_code) noexcept : code(c) {}
};

/// Which power of two a value between two of them becomes.
enum class e8m0_rounding : std::uint8_t {
  floor,         ///< 2^floor(log2 x): OCP MX, torchao's default
  nearest_up,    ///< nearest, 1.5 * 2^n goes up: ml_dtypes, torch, ONNX
  nearest_even,  ///< nearest, 1.5 * 2^n goes to the even code
  up             ///< 2^ceil(log2 x): NVIDIA's hardware, DeepGEMM
};

/// The scale of `x` in the given direction, by integer arithmetic on the exponent (a float log2 is wrong next
/// to powers of two). Zero and what lies below 2^-127 give 2^-127 (00); what lies above 2^127 gives 2^127
/// (fe). NaN, infinity and negative numbers are no scales and give NaN (ff).
OFP8_INLINE constexpr e8m0 convert_e8m0(float x, e8m0_rounding rounding) noexcept {
  const detail::unpacked u = detail::unpack(x);
  if (u.kind != detail::number_class::finite || (u.negative && u.significand != 0))
    return e8m0::from_bits(0xff);
  if (u.significand == 0) return e8m0::from_bits(0);

  const int top = detail::highest_bit(u.significand);
  const int code = u.exponent + top + 127;  // of the power of two at or below x
  const std::uint64_t fraction = u.significand - (std::uint64_t{1} << top);
  const std::uint64_t twice = 2 * fraction;  // compared with 2^top: below, at or above the middle
  const std::uint64_t middle = std::uint64_t{1} << top;
  bool up = false;
  switch (rounding) {
    case e8m0_rounding::floor:
      break;
    case e8m0_rounding::nearest_up:
      up = twice >= middle;
      break;
    case e8m0_rounding::nearest_even:
      up = twice > middle || (twice == middle && (code & 1) != 0);
      break;
    case e8m0_rounding::up:
      up = fraction != 0;
      break;
  }
  const int rounded = code + (up ? 1 : 0);
  return e8m0::from_bits(static_cast<unsigned>(rounded < 0 ? 0 : rounded > 254 ? 254 : rounded));
}

}  // namespace ofp8

/// Right where CUTLASS and others are not: lowest() is 2^-127, quiet_NaN() is ff.
template <>
class std::numeric_limits<ofp8::e8m0> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = false;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool is_iec559 = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr std::float_denorm_style has_denorm = std::denorm_absent;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_indeterminate;
  static constexpr int radix = 2;
  static constexpr int digits = 1;
  static constexpr int digits10 = 0;
  static constexpr int max_digits10 = 2;
  static constexpr int min_exponent = -126;
  static constexpr int max_exponent = 128;
  static constexpr int min_exponent10 = -38;
  static constexpr int max_exponent10 = 38;
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0(min)() noexcept { return ofp8::e8m0::from_bits(0); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0(max)() noexcept { return ofp8::e8m0::from_bits(0xfe); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 lowest() noexcept { return ofp8::e8m0::from_bits(0); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 denorm_min() noexcept { return ofp8::e8m0::from_bits(0); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 epsilon() noexcept { return ofp8::e8m0::from_bits(0x7f); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 round_error() noexcept {
    return ofp8::e8m0::from_bits(0x7e);
  }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 infinity() noexcept { return ofp8::e8m0::from_bits(0xff); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 quiet_NaN() noexcept { return ofp8::e8m0::from_bits(0xff); }
  OFP8_INLINE_MEMBER static constexpr ofp8::e8m0 signaling_NaN() noexcept {
    return ofp8::e8m0::from_bits(0xff);
  }
};

template <>
struct std::hash<ofp8::e8m0> {
  OFP8_INLINE_MEMBER std::size_t operator()(ofp8::e8m0 x) const noexcept { return x.bits(); }
};
