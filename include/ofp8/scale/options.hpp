// SPDX-License-Identifier: Apache-2.0
// ofp8: what operations take and report besides their operands: quantize_counts and gemm_options.
//
//   quantize_counts counts;
//   quantize_into(x, out, counts);                                // counts.saturated, .flushed, .nan
//   gemm_nt(a, w, d, {.bias = bias, .addend = residual.view()});
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

/// What a quantization did to its elements. Operations add to the caller's numbers.
struct quantize_counts {
  std::int64_t saturated = 0;  ///< became the largest number: finite beyond the rounding threshold, or Inf
  std::int64_t flushed = 0;    ///< nonzero that became zero
  std::int64_t nan = 0;        ///< quotients that were NaN

  OFP8_INLINE_MEMBER constexpr quantize_counts& operator+=(const quantize_counts& other) noexcept {
    saturated += other.saturated;
    flushed += other.flushed;
    nan += other.nan;
    return *this;
  }
  OFP8_INLINE_MEMBER friend constexpr bool operator==(const quantize_counts& a,
                                                      const quantize_counts& b) noexcept {
    return a.saturated == b.saturated && a.flushed == b.flushed && a.nan == b.nan;
  }
};

/// What a GEMM adds to its product, for D of element type D: D[m,n] = sum + (addend[m,n] + bias[n]), and what it
/// reports besides D.
template <class D>
struct gemm_options {
  std::span<const float> bias{};  ///< N numbers, or empty
  matrix_view<const D> addend{};  ///< M x N (it may be D itself, exactly), or 0 x 0
  /// Where not null: *amax = max(*amax, the largest finite magnitude of D in FP32, before the division by an FP8 D's
  /// scale and before the rounding), where a negative number or a NaN in *amax counts as 0. What the next static output
  /// scale is computed from.
  float* amax = nullptr;
};

namespace detail {
template <class D>
struct addend_of {
  using type = std::remove_const_t<element_of<D>>;
};
template <scaled_operand D>
struct addend_of<D> {
  using type = float;
};
}  // namespace detail

/// The element type of the addend of a GEMM into D: D's own, or float where D holds FP8 codes with a scale.
template <class D>
using addend_of = typename detail::addend_of<std::remove_cvref_t<D>>::type;

}  // namespace ofp8
