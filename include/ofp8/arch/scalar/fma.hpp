// SPDX-License-Identifier: Apache-2.0
// ofp8: a * b + c with one rounding, whatever the file is compiled for. Where the instruction is missing it is
// composed of double operations, which vectorize; fmaf of the C library does not. __builtin_fmaf would also be
// wrong there: clang gives it the flags of -ffast-math even where float_control says precise, and then takes it
// apart into a product and a sum.
#pragma once

#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::scalar {

/// `sum`, the nearest double to a number that lies `error` beside it, rounded to odd instead: if it is inexact,
/// to the neighbour whose last bit is 1. Rounding that to float again is one rounding of the number itself
/// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). No comparisons: baseline x86 has
/// none for 64-bit lanes.
OFP8_INLINE double round_to_odd(double sum, double error) noexcept {
  constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000u;
  const std::uint64_t s = detail::bits_of(sum), e = detail::bits_of(error);
  const std::uint64_t magnitude = e << 1;
  const std::uint64_t inexact = (magnitude | (0 - magnitude)) >> 63;
  const std::uint64_t special = ((s & exponent) + (exponent & (0 - exponent))) >> 63;  // infinity, NaN
  const std::uint64_t step = inexact & ~special & ~s & 1;
  const std::uint64_t inward = (s ^ e) >> 63;
  return detail::double_from_bits(s + step - 2 * (step & inward));
}

#if defined(__FMA__) || OFP8_AARCH64
inline constexpr bool has_fma = true;
OFP8_INLINE float fma(float a, float b, float c) noexcept { return __builtin_fmaf(a, b, c); }
#else
inline constexpr bool has_fma = false;
// The product of two floats is exact in double and the error of the sum is exact, too (Knuth's two-sum): no
// double on the way overflows or is subnormal.
OFP8_INLINE float fma(float a, float b, float c) noexcept {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (addend - back);
  return static_cast<float>(round_to_odd(sum, error));
}
#endif

}  // namespace impl::scalar
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
