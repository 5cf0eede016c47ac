// SPDX-License-Identifier: Apache-2.0
// ofp8: bf16 and fp16, storage types for activations and outputs: exact widening, narrowing by
// convert<bf16>(x), no arithmetic. They have the bits of __bf16, _Float16, __nv_bfloat16 and __half:
// std::bit_cast between them.
//
//   bf16 h = convert<bf16>(3.14159f);      // nearest even; overflow becomes infinity
//   float f = float(h);
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/limits.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8 {

/// A 16-bit floating-point number of the given format. Trivially copyable, structural, two bytes.
template <class Format>
struct float16 {
  static_assert(Format::spec.bits() == 16);
  using format = Format;
  static constexpr format_spec spec = Format::spec;

  std::uint16_t code;  ///< public because a structural type needs it; use bits() and from_bits()

  float16() = default;

  OFP8_INLINE_MEMBER static constexpr float16 from_bits(unsigned bits) noexcept {
    return float16(static_cast<std::uint16_t>(bits), from_code{});
  }
  OFP8_INLINE_MEMBER constexpr std::uint16_t bits() const noexcept { return code; }

  /// Exact; a NaN keeps its sign and payload and becomes quiet.
  OFP8_INLINE_MEMBER explicit constexpr operator float() const noexcept {
    if constexpr (spec.mantissa_bits == 7) {
      const std::uint32_t wide = std::uint32_t{code} << 16;
      return detail::float_from_bits(spec.is_nan(code) ? wide | 0x0040'0000u : wide);
    } else {
      return detail::float_from_bits(spec.is_nan(code) ? nan_bits()
                                                       : detail::bits_of(detail::widen(spec, code)));
    }
  }
  OFP8_INLINE_MEMBER explicit constexpr operator double() const noexcept {
    return detail::exact_double(static_cast<float>(*this));
  }

  /// Numeric: -0 equals +0, NaN equals nothing.
  OFP8_INLINE_MEMBER friend constexpr bool operator==(float16 a, float16 b) noexcept {
    return (a <=> b) == std::partial_ordering::equivalent;
  }
  OFP8_INLINE_MEMBER friend constexpr std::partial_ordering operator<=>(float16 a, float16 b) noexcept {
    if (isnan(a) || isnan(b)) return std::partial_ordering::unordered;
    return a.lattice_position() <=> b.lattice_position();
  }

  OFP8_INLINE_MEMBER friend constexpr bool isnan(float16 x) noexcept { return spec.is_nan(x.code); }
  OFP8_INLINE_MEMBER friend constexpr bool isinf(float16 x) noexcept { return spec.is_infinity(x.code); }
  OFP8_INLINE_MEMBER friend constexpr bool isfinite(float16 x) noexcept { return !isnan(x) && !isinf(x); }
  OFP8_INLINE_MEMBER friend constexpr bool signbit(float16 x) noexcept {
    return (x.code & spec.sign_mask()) != 0;
  }

 private:
  struct from_code {};
  OFP8_INLINE_MEMBER constexpr float16(std::uint16_t c, from_code) noexcept : code(c) {}

  OFP8_INLINE_MEMBER constexpr std::uint32_t nan_bits() const noexcept {
    const std::uint32_t sign = (code & spec.sign_mask()) != 0 ? detail::float_sign : 0;
    const std::uint32_t payload = std::uint32_t{code & (spec.smallest_normal_code() - 1)}
                                  << (23 - spec.mantissa_bits);
    return sign | detail::float_quiet_nan | payload;
  }
  OFP8_INLINE_MEMBER constexpr int lattice_position() const noexcept {
    const int magnitude = static_cast<int>(code & spec.magnitude_mask());
    return (code & spec.sign_mask()) != 0 ? -magnitude : magnitude;
  }
};

using bf16 = float16<bf16_format>;  ///< bfloat16: the upper half of a float
using fp16 = float16<fp16_format>;  ///< IEEE binary16

namespace detail {
template <class T>
inline constexpr bool is_float16 = false;
template <class F>
inline constexpr bool is_float16<float16<F>> = true;
}  // namespace detail

/// bf16 or fp16, without const.
template <class T>
concept fp16_type = detail::is_float16<T>;

}  // namespace ofp8

template <class Format>
class std::numeric_limits<ofp8::float16<Format>> : public ofp8::detail::format_limits<ofp8::float16<Format>> {
};
template <class Format>
class std::numeric_limits<const ofp8::float16<Format>> : public std::numeric_limits<ofp8::float16<Format>> {};

template <class Format>
struct std::hash<ofp8::float16<Format>> {
  OFP8_INLINE_MEMBER std::size_t operator()(ofp8::float16<Format> x) const noexcept {
    return x == ofp8::float16<Format>::from_bits(0) ? 0 : x.bits();
  }
};
