// SPDX-License-Identifier: Apache-2.0
// ofp8: convert<To, Policy>(x), constexpr, from float, double, bf16, fp16, integers and every float8 type to
// float8, bf16, fp16, float and double. One rounding from the exact value of x, always: a double is not
// rounded to float first.
//
//   convert<e4m3>(0.3f)                                   // saturating, nearest even
//   convert<e5m2, like_ml_dtypes>(x)                      // another stack's behaviour, by name
//   convert<e4m3, policy{.rounding = rounding_mode::stochastic}>(x, bits, nbits)
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/core/round.hpp>

namespace ofp8 {
namespace detail {

template <class T>
concept small_float = fp8_type<T> || fp16_type<T>;

/// What convert takes. bool and character types are left out: they are not numbers to quantize.
template <class T>
concept convertible_number = std::same_as<T, float> || std::same_as<T, double> || small_float<T> ||
    (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

template <small_float T>
OFP8_INLINE constexpr unpacked unpack(T x) noexcept {
  return unpack(T::spec, x.bits());
}

// The default of a 16-bit target is IEEE's: overflow becomes infinity.
template <class To>
inline constexpr policy default_policy = fp16_type<To> ? nonsaturating : saturating;

// 16-bit NaN results are the canonical quiet NaN, not the all-ones code.
template <class To>
OFP8_INLINE constexpr To from_unpacked(const policy& p, const unpacked& x, random_bits random = {}) noexcept {
  if constexpr (fp16_type<To>) {
    if (x.kind == number_class::nan) {
      return To::from_bits(To::spec.infinity_code() | (1u << (To::spec.mantissa_bits - 1)));
    }
  }
  return To::from_bits(round_to(To::spec, p, x, random));
}

}  // namespace detail

/// `x` rounded once to `To` (a float8 type, bf16 or fp16) under `Policy` (a policy, or a preset such as
/// like_torch). The defaults: float8 targets saturate, 16-bit targets overflow to infinity and turn NaN into
/// 7fc0 or 7e00.
template <class To, auto Policy = detail::default_policy<To>, detail::convertible_number From>
requires detail::small_float<To> OFP8_INLINE constexpr To convert(From x) noexcept {
  constexpr policy p = detail::policy_for<typename To::format, Policy>();
  static_assert(p.rounding != rounding_mode::stochastic,
                "stochastic rounding takes its bits: convert<To, P>(x, bits, nbits)");
  static_assert(fp16_type<To> || detail::fits(To::spec, p),
                "the policy's NaN code is not a NaN of this format");
  return detail::from_unpacked<To>(p, detail::unpack(x));
}

/// Stochastic rounding with the caller's bits: adds bits / 2^nbits of a unit in the last place to |x| and
/// truncates. `nbits` is 1 .. 32 and `bits` below 2^nbits (higher bits are ignored). Unbiased to 2^-nbits
/// when `bits` is uniform.
template <class To, auto Policy, detail::convertible_number From>
requires detail::small_float<To> OFP8_INLINE constexpr To convert(From x, std::uint32_t bits,
                                                                  int nbits) noexcept {
  constexpr policy p = detail::policy_for<typename To::format, Policy>();
  static_assert(p.rounding == rounding_mode::stochastic, "a policy with rounding_mode::stochastic is needed");
  static_assert(fp16_type<To> || detail::fits(To::spec, p),
                "the policy's NaN code is not a NaN of this format");
  const std::uint32_t mask = nbits >= 32 ? ~0u : (1u << nbits) - 1;
  return detail::from_unpacked<To>(p, detail::unpack(x), {bits & mask, nbits});
}

/// Widening, exact from every small format: convert<float>(x) is float(x), for generic code.
template <class To, detail::small_float From>
requires std::same_as<To, float> || std::same_as<To, double> OFP8_INLINE constexpr To convert(
    From x) noexcept {
  return static_cast<To>(x);
}
template <class To, std::same_as<float> From>
requires std::same_as<To, float> OFP8_INLINE constexpr float convert(From x) noexcept { return x; }

}  // namespace ofp8
