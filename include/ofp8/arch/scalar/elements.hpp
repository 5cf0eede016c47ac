// SPDX-License-Identifier: Apache-2.0
// ofp8: what the scalar kernels do to one element, written so that compilers turn the loops around it into
// vector code: no branches, selects by integer masks, NaN tests on bits. Any CPU, any compiler.
#pragma once

#include <cstdint>

#include <ofp8/arch/rounding_constants.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::scalar {

// All ones where the condition holds.
OFP8_INLINE std::uint32_t mask(bool condition) noexcept { return 0u - static_cast<std::uint32_t>(condition); }
OFP8_INLINE std::uint32_t select(std::uint32_t m, std::uint32_t yes, std::uint32_t no) noexcept {
  return (yes & m) | (no & ~m);
}
// Magnitudes compare as signed numbers: baseline x86 has no unsigned vector comparison.
OFP8_INLINE std::uint32_t above(std::uint32_t magnitude, std::uint32_t limit) noexcept {
  return mask(static_cast<std::int32_t>(magnitude) > static_cast<std::int32_t>(limit));
}

/// The code of the float with bits `x`: arch/rounding_constants.hpp. Truncation rounds to nearest, too, and
/// takes one code back where that went up.
template <bool TowardZero>
OFP8_INLINE std::uint32_t round_to_code(std::uint32_t x, const detail::rounding_constants& k) noexcept {
  const std::uint32_t magnitude = x & detail::float_magnitude;
  const std::uint32_t a = select(above(magnitude, k.clamp), k.clamp, magnitude);
  const std::uint32_t binade = a & detail::float_infinity;
  const std::uint32_t c = select(above(binade, k.smallest_binade), binade, k.smallest_binade) + k.magic;
  const float sum = detail::float_from_bits(a) + detail::float_from_bits(c);
  std::uint32_t code = (detail::bits_of(sum) + (c >> k.shift)) & (2 * k.sign - 1);
  if constexpr (TowardZero) code += above(detail::bits_of(sum - detail::float_from_bits(c)), a);

  const std::uint32_t nan = above(magnitude, detail::float_infinity);
  code = select(above(detail::float_infinity, magnitude), code, k.infinity);
  code = select(nan, k.nan, code);
  const std::uint32_t sign = select(mask(code == 0), k.zero_sign, select(nan, k.nan_sign, k.sign));
  return code | ((x >> k.sign_shift) & sign);
}

/// Float bits of an element, exact; NaN becomes quiet.
OFP8_INLINE std::uint32_t load(float x) noexcept { return detail::bits_of(x); }

OFP8_INLINE std::uint32_t load(bf16 x) noexcept {
  const std::uint32_t wide = std::uint32_t{x.code} << 16;
  return wide | (above(wide & detail::float_magnitude, detail::float_infinity) & 0x0040'0000u);
}

// A subnormal fp16 is 2^-14 * fraction: the fraction enters below the hidden bit of 2^-14, which is then
// subtracted. No float is subnormal on the way.
OFP8_INLINE std::uint32_t load(fp16 x) noexcept {
  constexpr std::uint32_t smallest = 113u << 23;
  constexpr std::uint32_t rebias = 112u << 23;
  constexpr std::uint32_t infinity = 31u << 23;
  const std::uint32_t m = (std::uint32_t{x.code} & 0x7fffu) << 13;
  const std::uint32_t subnormal =
      detail::bits_of(detail::float_from_bits(m + smallest) - detail::float_from_bits(smallest));
  std::uint32_t wide = select(above(1u << 23, m), subnormal, m + rebias);
  wide = select(above(infinity, m), wide, m + 2 * rebias);
  wide |= above(m, infinity) & 0x0040'0000u;
  return wide | (std::uint32_t{x.code} & 0x8000u) << 16;
}

OFP8_INLINE float load_float(float x) noexcept { return x; }
OFP8_INLINE float load_float(bf16 x) noexcept { return detail::float_from_bits(load(x)); }
OFP8_INLINE float load_float(fp16 x) noexcept { return detail::float_from_bits(load(x)); }

/// Nearest even, overflow to infinity, NaN 7fc0.
OFP8_INLINE std::uint32_t round_to_bf16(std::uint32_t x) noexcept {
  const std::uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  return select(above(x & detail::float_magnitude, detail::float_infinity), 0x7fc0u, rounded);
}

/// Nearest even, subnormals kept, overflow to infinity, NaN 7e00.
inline constexpr detail::rounding_constants fp16_rounding =
    detail::rounding_constants_for(fp16::spec, 0x4780'0000u, fp16::spec.infinity_code(), 0x7e00u, 0);

}  // namespace impl::scalar
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
