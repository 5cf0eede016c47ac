// SPDX-License-Identifier: Apache-2.0
// ofp8: FP8 codes to bf16 or fp16 by arithmetic on bytes, for vector units without large tables: the constants, and
// the arithmetic on one code, which is their specification.
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8::detail {

/// A normal magnitude m becomes (m << left) + (rebias << mantissa), where `left` is what the mantissa grows by and
/// `rebias` what the bias does:
///
///   m                    eeee mmm            e4m3
///   number      eeeeeeee mmm0 000            bf16: left 4, rebias 120
///               [ high ] [ low ]
///
/// low = m << left and high = (m >> (8 - left)) + constant, if rebias << mantissa has no bit in the low byte. An
/// odd rebias of a bf16 has: one of it is added to the exponent field of m first. Below 16 are all subnormals;
/// tables of 16 correct them by exclusive or. Infinities and NaN come last, or at 80, which is -0 elsewhere.
struct byte_arithmetic {
  std::uint8_t left, right;  ///< shift counts
  std::uint8_t low_mask, high_mask;
  std::uint8_t first;       ///< added to m
  std::uint8_t high_first;  ///< added to high
  std::uint8_t low_corrections[16], high_corrections[16];
  bool has_minus_zero;                             ///< else the code 80 is compared as 7f
  std::uint8_t low_usual_up_to, high_usual_up_to;  ///< above, bytes are those of NaN (signed comparison)
  std::uint8_t low_nan, high_nan;
};

OFP8_INLINE constexpr byte_arithmetic byte_arithmetic_to(const format_spec& out,
                                                         const format_spec& in) noexcept {
  const int left = out.mantissa_bits - in.mantissa_bits;
  const int rebias = out.bias - in.bias;
  const int odd = out.mantissa_bits < 8 ? rebias & 1 : 0;
  byte_arithmetic p{};
  p.left = static_cast<std::uint8_t>(left);
  p.right = static_cast<std::uint8_t>(8 - left);
  p.low_mask = static_cast<std::uint8_t>(0xff << left);
  p.high_mask = static_cast<std::uint8_t>(0xff >> (8 - left));
  p.first = static_cast<std::uint8_t>(odd << in.mantissa_bits);
  p.high_first = static_cast<std::uint8_t>((rebias - odd) * (1 << out.mantissa_bits) / 256);
  for (std::uint32_t m = 0; m < 16; ++m) {
    const std::uint32_t number = round_to(out, nonsaturating, unpack(in, m));
    const std::uint32_t low = (m + p.first) << left;
    const std::uint32_t high = ((m + p.first) >> (8 - left)) + p.high_first;
    p.low_corrections[m] = static_cast<std::uint8_t>(number ^ low);
    p.high_corrections[m] = static_cast<std::uint8_t>(number >> 8 ^ high);
  }
  const std::uint32_t nan = out.infinity_code() | 1u << (out.mantissa_bits - 1);
  p.low_nan = static_cast<std::uint8_t>(nan);
  p.high_nan = static_cast<std::uint8_t>(nan >> 8);
  p.has_minus_zero = in.has_minus_zero();
  p.low_usual_up_to = p.high_usual_up_to = 0x7e;
  if (in.has_infinity()) {
    // The high byte of a bf16 infinity is that of NaN; its low byte, and both of an fp16 infinity, come out right.
    const auto infinity = static_cast<std::uint8_t>(in.infinity_code());
    p.low_usual_up_to = infinity;
    p.high_usual_up_to = static_cast<std::uint8_t>(out.mantissa_bits < 8 ? infinity - 1 : infinity);
  }
  return p;
}

template <class E, class Out>
inline constexpr byte_arithmetic byte_arithmetic_for = byte_arithmetic_to(Out::spec, E::spec);

}  // namespace ofp8::detail
