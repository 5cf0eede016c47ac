// SPDX-License-Identifier: Apache-2.0
// ofp8: exact_accumulator, a fixed-point number wide enough for any sum of scaled products, rounded once at the end: the
// true answer that every floating-point sum is compared with.
//
//   reference::exact_accumulator sum;
//   sum.add_product(1.0f, 3.0f, 0.1f, 1.0f);          // a * b * sa * sb, exactly
//   float truth = sum.rounded<float>();
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8::reference {
OFP8_ALGORITHMS_BEGIN

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

/// A signed fixed-point number with the unit 2^-640 and 1280 bits, and IEEE's rules for NaN and infinity.
///
/// Wide enough: a product of four floats is a multiple of 2^(4 * -149) = 2^-596 and below 2^512; 2^60 of them stay below
/// 2^572, and two's complement reaches 2^639.
class exact_accumulator {
 public:
  /// += a * b * sa * sb. NaN, or infinity times zero, makes the sum NaN.
  void add_product(float a, float b, float sa, float sb) noexcept {
    const detail::unpacked factors[4] = {detail::unpack(a), detail::unpack(b), detail::unpack(sa),
                                         detail::unpack(sb)};
    bool negative = false, zero = false, infinite = false;
    int exponent = 0;
    for (const detail::unpacked& f : factors) {
      if (f.kind == detail::number_class::nan) nan_ = true;
      infinite = infinite || f.kind == detail::number_class::infinite;
      zero = zero || (f.kind == detail::number_class::finite && f.significand == 0);
      negative = negative != f.negative;
      exponent += f.exponent;
    }
    if (infinite) return add_infinity(negative, zero);
    const uint128 low = uint128{factors[0].significand} * factors[1].significand;    // below 2^48
    const uint128 scale = uint128{factors[2].significand} * factors[3].significand;  // below 2^48
    add(negative, low * scale, exponent);
  }

  /// += x.
  void add(float x) noexcept { add_product(x, 1.0f, 1.0f, 1.0f); }

  /// += units * 2^exponent * sa * sb, for the integer sum of a segment. `units` is below 2^127 in magnitude.
  void add_scaled(int128 units, int exponent, float sa, float sb) noexcept {
    const detail::unpacked x = detail::unpack(sa), y = detail::unpack(sb);
    if (x.kind == detail::number_class::nan || y.kind == detail::number_class::nan) nan_ = true;
    const bool negative = (x.negative != y.negative) != (units < 0);
    const bool infinite =
        x.kind == detail::number_class::infinite || y.kind == detail::number_class::infinite;
    const bool zero = units == 0 || (x.kind == detail::number_class::finite && x.significand == 0) ||
                      (y.kind == detail::number_class::finite && y.significand == 0);
    if (infinite) return add_infinity(negative, zero);
    const uint128 magnitude =
        units < 0 ? uint128{0} - static_cast<uint128>(units) : static_cast<uint128>(units);
    const uint128 scale = uint128{x.significand} * y.significand;  // below 2^48
    const int at = exponent + x.exponent + y.exponent;
    add(negative, static_cast<std::uint64_t>(magnitude) * scale, at);
    add(negative, static_cast<std::uint64_t>(magnitude >> 64) * scale, at + 64);
  }

  /// The sum rounded once, nearest even, to float, double, bf16, fp16 or a float8 type (saturating). A sum of zero is +0.
  template <class T>
  T rounded() const noexcept {
    return narrow<T>(unpacked());
  }

  /// The sum divided by `divisor` (finite, not zero), rounded once: an FP8 output with a scale of its own.
  template <class T>
  T quotient(float divisor) const noexcept {
    detail::unpacked sum = unpacked();
    const detail::unpacked d = detail::unpack(divisor);
    sum.negative = sum.negative != d.negative;
    if (sum.kind == detail::number_class::finite && sum.significand != 0) {
      // `unpacked` keeps 62 bits and a sticky one; 40 bits of quotient and a sticky bit decide any 8-bit rounding.
      const uint128 numerator = uint128{sum.significand} << 32;
      const uint128 q = numerator / d.significand;
      const bool inexact = numerator % d.significand != 0 || (sum.significand & 1) != 0;
      int excess = 0;
      while ((q >> excess) >> 62 != 0) ++excess;
      const bool lost = (q & ((uint128{1} << excess) - 1)) != 0;
      sum.significand = static_cast<std::uint64_t>(q >> excess) << 1 | ((inexact || lost) ? 1u : 0u);
      sum.exponent += excess - 33 - d.exponent;
    }
    return narrow<T>(sum);
  }

 private:
  static constexpr int limbs = 20;
  static constexpr int unit_exponent = -640;

  void add_infinity(bool negative, bool times_zero) noexcept {
    if (times_zero) nan_ = true;
    (negative ? minus_infinity_ : plus_infinity_) = true;
  }

  void add(bool negative, uint128 significand, int exponent) noexcept {
    if (significand == 0) return;
    const int position = exponent - unit_exponent;
    const int limb = position / 64, shift = position % 64;
    const std::uint64_t parts[3] = {
        static_cast<std::uint64_t>(significand << shift),
        static_cast<std::uint64_t>((significand << shift) >> 64),
        shift == 0 ? 0 : static_cast<std::uint64_t>(significand >> (128 - shift))};
    std::uint64_t carry = 0;
    for (int i = limb; i < limbs; ++i) {
      const std::uint64_t part = i - limb < 3 ? parts[i - limb] : 0;
      const uint128 sum = negative ? uint128{value_[i]} - part - carry : uint128{value_[i]} + part + carry;
      value_[i] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64) & 1;
    }
  }

  // Sign, the leading 62 bits and a sticky bit below them: enough for one exact rounding to any type up to double.
  detail::unpacked unpacked() const noexcept {
    if (nan_ || (plus_infinity_ && minus_infinity_)) return {false, detail::number_class::nan, 0, 0};
    if (plus_infinity_ || minus_infinity_) return {minus_infinity_, detail::number_class::infinite, 0, 0};
    std::uint64_t magnitude[limbs];
    const bool negative = (value_[limbs - 1] >> 63) != 0;
    std::uint64_t carry = negative ? 1 : 0;
    for (int i = 0; i < limbs; ++i) {
      magnitude[i] = (negative ? ~value_[i] : value_[i]) + carry;
      carry = carry != 0 && magnitude[i] == 0 ? 1 : 0;
    }
    int top = limbs - 1;
    while (top >= 0 && magnitude[top] == 0) --top;
    if (top < 0) return {false, detail::number_class::finite, 0, 0};

    const int leading = detail::highest_bit(magnitude[top]);
    const uint128 two = uint128{magnitude[top]} << 64 | (top > 0 ? magnitude[top - 1] : 0);
    const int drop = leading + 64 - 61;  // keep 62 bits of the two limbs
    bool sticky = (two & ((uint128{1} << drop) - 1)) != 0;
    for (int i = 0; i < top - 1; ++i) sticky = sticky || magnitude[i] != 0;
    const auto kept = static_cast<std::uint64_t>(two >> drop);
    return {negative, detail::number_class::finite, kept << 1 | (sticky ? 1u : 0u),
            64 * (top - 1) + drop - 1 + unit_exponent};
  }

  template <class T>
  static T narrow(const detail::unpacked& x) noexcept {
    if constexpr (std::same_as<T, float>) {
      const std::uint32_t nan = detail::float_quiet_nan;
      const bool is_nan = x.kind == detail::number_class::nan;
      return detail::float_from_bits(is_nan ? nan : detail::round_to(detail::float_spec, nonsaturating, x));
    } else if constexpr (std::same_as<T, double>) {
      return to_double(x);
    } else {
      return detail::from_unpacked<T>(detail::default_policy<T>, x);
    }
  }

  // Beyond 2^-1022 .. 2^1023 no sum can be.
  static double to_double(const detail::unpacked& x) noexcept {
    constexpr double infinity = __builtin_huge_val();
    if (x.kind == detail::number_class::nan) return detail::double_from_bits(0x7ff8'0000'0000'0000);
    if (x.kind == detail::number_class::infinite) return x.negative ? -infinity : infinity;
    if (x.significand == 0) return 0.0;
    const int shift = detail::highest_bit(x.significand) - 52;  // 53 bits stay
    std::uint64_t kept = x.significand;
    if (shift > 0) {
      kept = x.significand >> shift;
      const std::uint64_t dropped = x.significand & ((std::uint64_t{1} << shift) - 1);
      if (detail::rounds_up(rounding_mode::nearest_even, kept, dropped, shift, {})) ++kept;
    }
    return __builtin_ldexp(static_cast<double>(kept), x.exponent + (shift > 0 ? shift : 0)) *
           (x.negative ? -1.0 : 1.0);
  }

  std::uint64_t value_[limbs] = {};  // two's complement, least significant first
  bool nan_ = false;
  bool plus_infinity_ = false;
  bool minus_infinity_ = false;
};

OFP8_ALGORITHMS_END
}  // namespace ofp8::reference
