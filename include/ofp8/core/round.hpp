// SPDX-License-Identifier: Apache-2.0
// ofp8: the one rounding. Any source value is unpacked to sign, integer significand and exponent, exactly;
// round_to then rounds it once to any format under any policy, in integer arithmetic only: no result depends
// on the floating-point environment. This is the specification of every encode kernel.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/policy.hpp>

namespace ofp8::detail {

enum class number_class : std::uint8_t { finite, infinite, nan };

/// An exact value: (-1)^negative * significand * 2^exponent.
struct unpacked {
  bool negative;
  number_class kind;
  std::uint64_t significand;
  int exponent;
};

/// Any binary interchange-like pattern: `code` has the sign at bit spec.bits() - 1.
OFP8_INLINE constexpr unpacked unpack(const format_spec& f, std::uint32_t code) noexcept {
  const bool negative = (code & f.sign_mask()) != 0;
  if (f.is_nan(code)) return {negative, number_class::nan, 0, 0};
  if (f.is_infinity(code)) return {negative, number_class::infinite, 0, 0};
  const std::uint32_t magnitude = code & f.magnitude_mask();
  const std::uint32_t hidden = f.smallest_normal_code();
  if (magnitude < hidden) return {negative, number_class::finite, magnitude, f.quantum_exponent()};
  const int binade = static_cast<int>(magnitude >> f.mantissa_bits) - 1;
  return {negative, number_class::finite, (magnitude & (hidden - 1)) | hidden, f.quantum_exponent() + binade};
}

inline constexpr format_spec float_spec{8, 23, 127, special_codes::ieee};

OFP8_INLINE constexpr unpacked unpack(float x) noexcept { return unpack(float_spec, bits_of(x)); }

OFP8_INLINE constexpr unpacked unpack(double x) noexcept {
  const std::uint64_t bits = bits_of(x);
  const bool negative = (bits >> 63) != 0;
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (field == 0x7ff) return {negative, fraction != 0 ? number_class::nan : number_class::infinite, 0, 0};
  if (field == 0) return {negative, number_class::finite, fraction, -1074};
  return {negative, number_class::finite, fraction | (std::uint64_t{1} << 52), field - 1075};
}

template <std::integral T>
OFP8_INLINE constexpr unpacked unpack(T x) noexcept {
  static_assert(sizeof(T) <= 8, "integers up to 64 bits");
  const bool negative = x < T{0};
  const auto bits = static_cast<std::uint64_t>(x);
  return {negative, number_class::finite, negative ? 0 - bits : bits, 0};
}

/// The caller's random bits of stochastic rounding: bits / 2^count of a unit in the last place, 0 < count
/// <= 32.
struct random_bits {
  std::uint32_t bits = 0;
  int count = 1;
};

// Whether |value| = (kept + dropped / 2^shift) units rounds up to kept + 1.
//
//   significand   1 b b b b b b b b b
//                 [  kept  ][dropped ]     shift = number of dropped bits
OFP8_INLINE constexpr bool rounds_up(rounding_mode mode, std::uint64_t kept, std::uint64_t dropped, int shift,
                                     random_bits random) noexcept {
  if (mode == rounding_mode::toward_zero || dropped == 0) return false;
  if (mode == rounding_mode::nearest_even) {
    if (shift > 64) return false;  // below half a unit, whatever the 64 bits are
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    return dropped > half || (dropped == half && (kept & 1) != 0);
  }
  // Stochastic: dropped / 2^shift + bits / 2^count >= 1.
  if (random.bits == 0) return false;
  const std::uint64_t needed = (std::uint64_t{1} << random.count) - random.bits;
  const int surplus = shift - random.count;
  if (surplus >= 64) return false;
  return surplus >= 0 ? (dropped >> surplus) >= needed : (dropped << -surplus) >= needed;
}

/// The magnitude code of a value beyond the largest finite number. In FNUZ the NaN has the sign bit itself.
OFP8_INLINE constexpr std::uint32_t overflow_code(const format_spec& f, overflow_rule rule) noexcept {
  if (rule == overflow_rule::saturate) return f.largest_code();
  return f.has_infinity() ? f.infinity_code() : f.canonical_nan();
}

/// The code of `x` in format `f` under policy `p`, sign bit included.
OFP8_INLINE constexpr std::uint32_t round_to(const format_spec& f, const policy& p, const unpacked& x,
                                             random_bits random = {}) noexcept {
  const std::uint32_t sign = x.negative ? f.sign_mask() : 0;

  // 1. NaN and infinity.
  if (x.kind == number_class::nan) return nan_code_of(f, p) | (p.nan_sign == nan_sign::keep ? sign : 0);
  if (x.kind == number_class::infinite) return sign | overflow_code(f, p.on_infinity);
  if (x.significand == 0) return f.has_minus_zero() ? sign : 0;

  // 2. The unit in the last place of the result: that of x's binade, but never below the subnormal quantum.
  const int leading = x.exponent + highest_bit(x.significand);
  const int unit = (leading > f.min_exponent() ? leading : f.min_exponent()) - f.mantissa_bits;
  const int shift = unit - x.exponent;

  // 3. |x| in units, rounded to an integer.
  std::uint64_t units = 0;
  if (shift <= 0) {
    units = x.significand << -shift;  // exact; the leading bit lands at or below the hidden bit
  } else {
    const std::uint64_t kept = shift < 64 ? x.significand >> shift : 0;
    const std::uint64_t dropped =
        shift < 64 ? x.significand & ((std::uint64_t{1} << shift) - 1) : x.significand;
    units = kept + (rounds_up(p.rounding, kept, dropped, shift, random) ? 1 : 0);
  }

  // 4. The code counts the lattice: the hidden bit in `units` adds the one that the exponent field lacks, and
  // a carry
  //    out of the mantissa lands in the exponent by itself.
  const std::uint64_t code =
      units + (static_cast<std::uint64_t>(unit - f.quantum_exponent()) << f.mantissa_bits);
  if (code > f.largest_code()) return sign | overflow_code(f, p.on_overflow);
  if (code == 0 && !f.has_minus_zero()) return 0;
  return sign | static_cast<std::uint32_t>(code);
}

/// The exact float of a code; needs every value of the format to be a float (true of all formats up to bf16).
/// NaN codes give sign | 7fc00000, the FNUZ NaN 80 too: its sign bit is set, so it gives ffc00000 (as in ml_dtypes and
/// ONNX Runtime).
OFP8_INLINE constexpr float widen(const format_spec& f, std::uint32_t code) noexcept {
  const unpacked x = unpack(f, code);
  const std::uint32_t sign = x.negative ? float_sign : 0;
  if (x.kind == number_class::nan) return float_from_bits(sign | float_quiet_nan);
  return float_from_bits(round_to(float_spec, nonsaturating, x));
}

}  // namespace ofp8::detail
