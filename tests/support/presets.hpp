// SPDX-License-Identifier: Apache-2.0
// The promised policy presets and what each does outside the finite range, typed in from the conformance
// tables of the stacks they are named after (bytes, not formulas).
#pragma once

#include <tuple>
#include <type_traits>

#include <ofp8/core/policy.hpp>

#include "tests/support/oracle.hpp"

namespace ofp8::test {

/// A preset with the bytes it must give in each format.
template <auto P>
struct named_preset {
  static constexpr auto value = P;
  const char* name;
  specials e4m3_codes, e5m2_codes, e4m3fnuz_codes, e5m2fnuz_codes;

  template <class E>
  constexpr const specials& codes() const {
    if constexpr (std::is_same_v<E, e4m3>)
      return e4m3_codes;
    else if constexpr (std::is_same_v<E, e5m2>)
      return e5m2_codes;
    else if constexpr (std::is_same_v<E, e4m3fnuz>)
      return e4m3fnuz_codes;
    else
      return e5m2fnuz_codes;
  }
};

inline constexpr specials fnuz_saturating{{0x80, 0x80}, {0x7f, 0xff}, {0x7f, 0xff}};
inline constexpr specials fnuz_nonfinite{{0x80, 0x80}, {0x80, 0x80}, {0x80, 0x80}};

// clang-format off
inline constexpr std::tuple presets{
    //                                       NaN  -NaN      Inf  -Inf   overflow  -overflow
    named_preset<saturating>{"saturating",
        /* e4m3 */                       {{0x7f, 0x7f}, {0x7e, 0xfe}, {0x7e, 0xfe}},
        /* e5m2 */                       {{0x7f, 0x7f}, {0x7b, 0xfb}, {0x7b, 0xfb}},
        fnuz_saturating, fnuz_saturating},
    named_preset<nonsaturating>{"nonsaturating",
        /* e4m3 */                       {{0x7f, 0x7f}, {0x7f, 0xff}, {0x7f, 0xff}},
        /* e5m2 */                       {{0x7f, 0x7f}, {0x7c, 0xfc}, {0x7c, 0xfc}},
        fnuz_nonfinite, fnuz_nonfinite},
    named_preset<like_ml_dtypes>{"like_ml_dtypes",
        /* e4m3 */                       {{0x7f, 0xff}, {0x7f, 0xff}, {0x7f, 0xff}},
        /* e5m2 */                       {{0x7e, 0xfe}, {0x7c, 0xfc}, {0x7c, 0xfc}},
        fnuz_nonfinite, fnuz_nonfinite},
    named_preset<like_ml_dtypes_saturate>{"like_ml_dtypes_saturate",
        /* e4m3 */                       {{0x7f, 0xff}, {0x7f, 0xff}, {0x7e, 0xfe}},
        /* e5m2 */                       {{0x7e, 0xfe}, {0x7c, 0xfc}, {0x7b, 0xfb}},
        /* e4m3fnuz */                   {{0x80, 0x80}, {0x80, 0x80}, {0x7f, 0xff}},
        /* e5m2fnuz */                   {{0x80, 0x80}, {0x80, 0x80}, {0x7f, 0xff}}},
    named_preset<like_torch>{"like_torch",
        /* e4m3 */                       {{0x7f, 0xff}, {0x7e, 0xfe}, {0x7e, 0xfe}},
        /* e5m2 */                       {{0x7f, 0xff}, {0x7c, 0xfc}, {0x7c, 0xfc}},
        fnuz_nonfinite, fnuz_nonfinite},
    named_preset<like_torch_2_11>{"like_torch_2_11",
        /* e4m3 */                       {{0x7f, 0xff}, {0x7f, 0xff}, {0x7f, 0xff}},
        /* e5m2 */                       {{0x7f, 0xff}, {0x7c, 0xfc}, {0x7c, 0xfc}},
        fnuz_nonfinite, fnuz_nonfinite},
    named_preset<like_onnx_saturate>{"like_onnx_saturate",
        /* e4m3 */                       {{0x7f, 0xff}, {0x7e, 0xfe}, {0x7e, 0xfe}},
        /* e5m2 */                       {{0x7f, 0xff}, {0x7b, 0xfb}, {0x7b, 0xfb}},
        fnuz_saturating, fnuz_saturating},
    named_preset<like_arm>{"like_arm",
        /* e4m3 */                       {{0x7f, 0x7f}, {0x7e, 0xfe}, {0x7e, 0xfe}},
        /* e5m2 */                       {{0x7e, 0x7e}, {0x7b, 0xfb}, {0x7b, 0xfb}},
        fnuz_saturating, fnuz_saturating}};
// clang-format on

/// f(preset) for each of them; decltype(preset)::value is the policy argument of convert.
template <class F>
void for_each_preset(F&& f) {
  std::apply([&](const auto&... preset) { (f(preset), ...); }, presets);
}

inline const specials& saturating_codes(const layout& l) {
  const auto& p = std::get<0>(presets);
  return !l.minus_zero ? fnuz_saturating : l.mantissa_bits == 3 ? p.e4m3_codes : p.e5m2_codes;
}

/// f(E{}) for the four FP8 types.
template <class F>
void for_each_fp8(F&& f) {
  f(e4m3::from_bits(0));
  f(e5m2::from_bits(0));
  f(e4m3fnuz::from_bits(0));
  f(e5m2fnuz::from_bits(0));
}

/// IEEE rounding to a 16-bit type, NaN canonical: what convert<bf16> and convert<fp16> do by default.
template <class T>
inline constexpr specials ieee_codes{};
template <>
inline constexpr specials ieee_codes<bf16>{{0x7fc0, 0x7fc0}, {0x7f80, 0xff80}, {0x7f80, 0xff80}};
template <>
inline constexpr specials ieee_codes<fp16>{{0x7e00, 0x7e00}, {0x7c00, 0xfc00}, {0x7c00, 0xfc00}};

}  // namespace ofp8::test
