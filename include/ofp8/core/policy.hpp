// SPDX-License-Identifier: Apache-2.0
// ofp8: what a conversion does where the stacks disagree: rounding, finite overflow, infinity, NaN code, NaN
// sign. A policy is five independent knobs; a preset is a callable from the format to a policy, because most
// stacks treat their formats differently.
//
//   convert<e4m3>(1e9f)                                              // saturating: 448
//   convert<e4m3, like_ml_dtypes>(1e9f)                              // NaN
//   convert<e4m3, policy{.rounding = rounding_mode::toward_zero}>(x)
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>

namespace ofp8 {

enum class rounding_mode : std::uint8_t {
  nearest_even,  ///< nearest, ties to the even code
  toward_zero,
  stochastic  ///< the caller's random bits decide: convert<To, P>(x, bits, nbits)
};

enum class overflow_rule : std::uint8_t {
  saturate,  ///< the largest finite number with the input's sign
  nonfinite  ///< infinity where the format has it, else NaN, with the input's sign
};

enum class nan_code : std::uint8_t {
  canonical = 0,  ///< 7f in E4M3 and E5M2, 80 in the FNUZ formats
  code_7d = 0x7d,
  code_7e = 0x7e,
  code_7f = 0x7f
};

enum class nan_sign : std::uint8_t {
  drop,  ///< every NaN input gives the same code
  keep   ///< a NaN input keeps its sign; the FNUZ formats have one NaN only
};

/// The knobs of a conversion. A structural aggregate: write policy{.on_overflow = ...} at the call.
/// Overflow means that the rounded value lies beyond the largest finite number.
struct policy {
  rounding_mode rounding = rounding_mode::nearest_even;
  overflow_rule on_overflow = overflow_rule::saturate;  ///< of finite values
  overflow_rule on_infinity = overflow_rule::saturate;
  ofp8::nan_code nan_code = ofp8::nan_code::canonical;
  ofp8::nan_sign nan_sign = ofp8::nan_sign::drop;

  friend constexpr bool operator==(const policy&, const policy&) = default;
};

/// OCP saturating mode, CUDA's SATFINITE from float: overflow and infinity become the largest finite number.
inline constexpr policy saturating{};

/// OCP non-saturating mode, CUDA's NOSAT from float.
inline constexpr policy nonsaturating{.on_overflow = overflow_rule::nonfinite,
                                      .on_infinity = overflow_rule::nonfinite};

namespace detail {

// NaN keeps its sign in these stacks; the E5M2 code differs.
OFP8_INLINE constexpr policy sign_keeping(overflow_rule overflow, overflow_rule infinity,
                                          ofp8::nan_code nan) noexcept {
  return {.on_overflow = overflow, .on_infinity = infinity, .nan_code = nan, .nan_sign = nan_sign::keep};
}
OFP8_INLINE constexpr ofp8::nan_code e5m2_nan(const format_spec& f, ofp8::nan_code code) noexcept {
  return f.has_infinity() ? code : ofp8::nan_code::canonical;
}

struct ml_dtypes_preset {
  overflow_rule on_overflow;
  OFP8_INLINE_MEMBER constexpr policy operator()(const format_spec& f) const noexcept {
    return sign_keeping(on_overflow, overflow_rule::nonfinite, e5m2_nan(f, ofp8::nan_code::code_7e));
  }
};

struct torch_preset {
  bool e4m3_saturates;
  OFP8_INLINE_MEMBER constexpr policy operator()(const format_spec& f) const noexcept {
    const bool saturates = e4m3_saturates && f.specials == special_codes::nan_at_all_ones;
    const overflow_rule rule = saturates ? overflow_rule::saturate : overflow_rule::nonfinite;
    return sign_keeping(rule, rule, ofp8::nan_code::canonical);
  }
};

struct onnx_saturate_preset {
  OFP8_INLINE_MEMBER constexpr policy operator()(const format_spec&) const noexcept {
    return sign_keeping(overflow_rule::saturate, overflow_rule::saturate, ofp8::nan_code::canonical);
  }
};

struct arm_preset {
  OFP8_INLINE_MEMBER constexpr policy operator()(const format_spec& f) const noexcept {
    return {.nan_code = e5m2_nan(f, ofp8::nan_code::code_7e)};
  }
};

}  // namespace detail

/// ml_dtypes' astype: no saturation, E5M2 NaN 7e, the NaN's sign kept.
inline constexpr detail::ml_dtypes_preset like_ml_dtypes{overflow_rule::nonfinite};
/// ml_dtypes' kSaturate: finite overflow saturates, infinity does not.
inline constexpr detail::ml_dtypes_preset like_ml_dtypes_saturate{overflow_rule::saturate};
/// PyTorch 2.12 and later on the CPU: E4M3FN saturates overflow and infinity, the other formats do not.
inline constexpr detail::torch_preset like_torch{true};
/// PyTorch up to 2.11 on the CPU: no format saturates.
inline constexpr detail::torch_preset like_torch_2_11{false};
/// ONNX Cast with saturate=1 (opset 24 for FNUZ infinities).
inline constexpr detail::onnx_saturate_preset like_onnx_saturate{};
/// Arm FEAT_FP8 with FPMR.OSC = 1: saturating, default NaN (7f in E4M3, 7e in E5M2), sign dropped.
inline constexpr detail::arm_preset like_arm{};

namespace detail {

template <class Format, auto P>
consteval policy policy_for() {
  if constexpr (requires { P(Format::spec); }) {
    return P(Format::spec);
  } else {
    return P;
  }
}

/// The full NaN code for a positive NaN input.
OFP8_INLINE constexpr std::uint32_t nan_code_of(const format_spec& f, const policy& p) noexcept {
  return p.nan_code == ofp8::nan_code::canonical ? f.canonical_nan() : static_cast<std::uint32_t>(p.nan_code);
}

/// A policy fits a format when its NaN code is one of the format's.
OFP8_INLINE constexpr bool fits(const format_spec& f, const policy& p) noexcept {
  return f.is_nan(nan_code_of(f, p));
}

}  // namespace detail
}  // namespace ofp8
