// SPDX-License-Identifier: Apache-2.0
// ofp8: float8<Format>, one byte that is a number. It stores, compares, prints and widens exactly; it has no
// arithmetic and no implicit conversion, because every `+` would round to three bits in silence.
//
//   constexpr e4m3 x = convert<e4m3>(0.3f);                     // ofp8/core/convert.hpp
//   static_assert(x.bits() == 0x2a && float(x) == 0.3125f);
//   static_assert(x == e4m3::from_bits(0x2a) && x < e4m3::from_bits(0x38));
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/limits.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8 {
namespace detail {

template <class Format>
consteval std::array<float, 256> make_decode_table() {
  std::array<float, 256> table{};
  for (std::uint32_t code = 0; code < 256; ++code) table[code] = widen(Format::spec, code);
  return table;
}

/// The value of each of the 256 codes of an 8-bit format.
template <class Format>
inline constexpr std::array<float, 256> decode_table = make_decode_table<Format>();

}  // namespace detail

/// An 8-bit floating-point number of the given format. Trivially copyable, structural, one byte.
template <class Format>
struct float8 {
  static_assert(Format::spec.bits() == 8);
  using format = Format;
  static constexpr format_spec spec = Format::spec;

  std::uint8_t code;  ///< public because a structural type needs it; use bits() and from_bits()

  float8() = default;  // user-declared: no aggregate, so e4m3{0x38} does not compile

  OFP8_INLINE_MEMBER static constexpr float8 from_bits(unsigned bits) noexcept {
    return float8(static_cast<std::uint8_t>(bits), from_code{});
  }
  OFP8_INLINE_MEMBER constexpr std::uint8_t bits() const noexcept { return code; }

  /// Exact. NaN codes give a quiet NaN, 80 gives -0 (OCP formats).
  OFP8_INLINE_MEMBER explicit constexpr operator float() const noexcept {
    return detail::float_from_bits(detail::bits_of(detail::decode_table<Format>.data()[code]));
  }
  OFP8_INLINE_MEMBER explicit constexpr operator double() const noexcept {
    return static_cast<double>(static_cast<float>(*this));
  }

  /// Numeric: -0 equals +0, NaN equals nothing.
  OFP8_INLINE_MEMBER friend constexpr bool operator==(float8 a, float8 b) noexcept {
    return (a <=> b) == std::partial_ordering::equivalent;
  }
  OFP8_INLINE_MEMBER friend constexpr std::partial_ordering operator<=>(float8 a, float8 b) noexcept {
    if (isnan(a) || isnan(b)) return std::partial_ordering::unordered;
    return a.lattice_position() <=> b.lattice_position();
  }

  OFP8_INLINE_MEMBER friend constexpr bool isnan(float8 x) noexcept { return spec.is_nan(x.code); }
  OFP8_INLINE_MEMBER friend constexpr bool isinf(float8 x) noexcept { return spec.is_infinity(x.code); }
  OFP8_INLINE_MEMBER friend constexpr bool isfinite(float8 x) noexcept { return !isnan(x) && !isinf(x); }
  /// The sign bit, of a NaN too. The FNUZ NaN (80) has it set.
  OFP8_INLINE_MEMBER friend constexpr bool signbit(float8 x) noexcept {
    return (x.code & spec.sign_mask()) != 0;
  }

 private:
  struct from_code {};
  OFP8_INLINE_MEMBER constexpr float8(std::uint8_t c, from_code) noexcept : code(c) {}

  // Codes are ordered like their magnitudes, so the signed magnitude orders the numbers.
  OFP8_INLINE_MEMBER constexpr int lattice_position() const noexcept {
    const int magnitude = static_cast<int>(code & spec.magnitude_mask());
    return (code & spec.sign_mask()) != 0 ? -magnitude : magnitude;
  }
};

using e4m3 = float8<e4m3_format>;          ///< OCP E4M3 ("FN"): 448 max, no infinity
using e5m2 = float8<e5m2_format>;          ///< OCP E5M2: 57344 max, infinity
using e4m3fnuz = float8<e4m3fnuz_format>;  ///< AMD CDNA3: 240 max, one NaN (80), no minus zero
using e5m2fnuz = float8<e5m2fnuz_format>;  ///< AMD CDNA3: 57344 max, one NaN (80), no minus zero

namespace detail {
template <class T>
inline constexpr bool is_float8 = false;
template <class F>
inline constexpr bool is_float8<float8<F>> = true;
}  // namespace detail

/// Any float8 type, without const.
template <class T>
concept fp8_type = detail::is_float8<T>;

}  // namespace ofp8

template <class Format>
class std::numeric_limits<ofp8::float8<Format>> : public ofp8::detail::format_limits<ofp8::float8<Format>> {};
template <class Format>
class std::numeric_limits<const ofp8::float8<Format>> : public std::numeric_limits<ofp8::float8<Format>> {};

/// Equal numbers hash equal: -0 and +0 have one hash.
template <class Format>
struct std::hash<ofp8::float8<Format>> {
  OFP8_INLINE_MEMBER std::size_t operator()(ofp8::float8<Format> x) const noexcept {
    return x == ofp8::float8<Format>::from_bits(0) ? 0 : x.bits();
  }
};
