// SPDX-License-Identifier: Apache-2.0
// ofp8: the numbers that the rounding by one magic addition needs, derived from a format and a rule. Every
// backend's encode kernels start from them.
//
// For a magnitude `a` and the power of two `b` of its binade (never below that of the smallest normal):
//
//   c    = b * 2^(23 - m) * (1 + K * 2^-23)      its unit in the last place is the target's at `a`
//   sum  = a + c                                 one float addition, nearest even, never subnormal
//   code = low bits of sum + (c >> (23 - m))     the rounded significand plus the exponent field
//
//   sum   0 eeeeeeee 0000000000 K + significand      K is even, so ties stay ties; it makes the low bits of
//   c     0 eeeeeeee 0000000000 K                    (exponent field - that of the smallest normal) right
//
// Proven for all 2^32 floats by the exhaustive tests.
#pragma once

#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8::detail {

/// Constants of the rounding from float to a format whose exponent range is smaller than a float's. Codes are
/// sign | magnitude.
struct rounding_constants {
  std::uint32_t clamp;            ///< larger finite magnitudes are replaced by this float
  std::uint32_t smallest_binade;  ///< float bits of the smallest normal number
  std::uint32_t magic;            ///< c = binade + magic
  int shift;                      ///< 23 - mantissa bits
  std::uint32_t infinity;         ///< code of +Inf
  std::uint32_t nan;              ///< code of NaN
  std::uint32_t sign;             ///< the sign bit of a code
  int sign_shift;                 ///< from a float's sign bit to it
  std::uint32_t nan_sign;         ///< the sign bit where NaN keeps it, else 0
  std::uint32_t zero_sign;        ///< the sign bit where the format has -0, else 0
};

OFP8_INLINE constexpr rounding_constants rounding_constants_for(const format_spec& f, std::uint32_t clamp,
                                                                std::uint32_t infinity, std::uint32_t nan,
                                                                std::uint32_t nan_sign) noexcept {
  const int shift = 23 - f.mantissa_bits;
  const int smallest_field = 127 + f.min_exponent();
  const std::uint32_t code_mask = f.sign_mask() | f.magnitude_mask();
  const std::uint32_t k =
      (0u - (static_cast<std::uint32_t>(smallest_field + shift) << f.mantissa_bits)) & code_mask;
  return {.clamp = clamp,
          .smallest_binade = static_cast<std::uint32_t>(smallest_field) << 23,
          .magic = (static_cast<std::uint32_t>(shift) << 23) + k,
          .shift = shift,
          .infinity = infinity,
          .nan = nan,
          .sign = f.sign_mask(),
          .sign_shift = 32 - f.bits(),
          .nan_sign = nan_sign,
          .zero_sign = f.has_minus_zero() ? f.sign_mask() : 0};
}

/// What the counts of a quantization compare |quotient| with (float bits).
struct count_thresholds {
  std::uint32_t saturated_above;  ///< larger magnitudes round beyond the largest finite number
  std::uint32_t flushed_up_to;    ///< magnitudes up to this one round to zero
};

OFP8_INLINE constexpr count_thresholds count_thresholds_for(const format_spec& f, bool toward_zero) noexcept {
  const std::uint32_t largest = bits_of(widen(f, f.largest_code()));
  const std::uint32_t unit = 1u << (23 - f.mantissa_bits);
  if (toward_zero) return {largest + unit - 1, bits_of(power_of_two(f.quantum_exponent())) - 1};
  // The middle rounds to the even code: up where the largest code is odd. Half the quantum rounds to zero.
  const std::uint32_t odd = f.largest_code() & 1;
  return {largest + unit / 2 - odd, bits_of(power_of_two(f.quantum_exponent() - 1))};
}

}  // namespace ofp8::detail
