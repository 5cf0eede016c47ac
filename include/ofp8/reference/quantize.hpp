// SPDX-License-Identifier: Apache-2.0
// ofp8: quantize and dequantize as specification: one block at a time, one element at a time, by core's convert. Slow by
// design; every backend, thread count and blocking returns these bytes. What a recipe computes from a block's amax is
// defined in scale/scale_step.hpp.
//
//   auto wq = reference::quantize<e4m3, per_channel>(w);
//   auto bq = reference::quantize<e4m3, block_wise<128, 128>>(w, recipes::deepseek_v3, &counts);
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/static_scale.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8::reference {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// Rows and columns [row, row_end) x [col, col_end) of one block of scale grid position (i, j).
struct block {
  std::ptrdiff_t row, row_end, col, col_end;
};

inline std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) { return a < b ? a : b; }

template <granularity G>
block block_at(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  const std::ptrdiff_t height = G::rows == whole ? rows : G::rows;
  const std::ptrdiff_t width = G::cols == whole ? cols : G::cols;
  return {i * height, smaller((i + 1) * height, rows), j * width, smaller((j + 1) * width, cols)};
}

template <class T>
float amax_of(matrix_view<const T> x, const block& b, amax_rule rule) {
  float amax = 0.0f;
  for (std::ptrdiff_t r = b.row; r < b.row_end; ++r) {
    for (std::ptrdiff_t c = b.col; c < b.col_end; ++c) {
      const float v = detail::float_from_bits(detail::magnitude_bits(static_cast<float>(x(r, c))));
      if (detail::is_nan(v)) {
        if (rule == amax_rule::propagate_nan) return v;
      } else if (detail::is_finite(v) || rule != amax_rule::finite_only) {
        if (v > amax) amax = v;
      }
    }
  }
  return amax;
}

// The code of one element, counted. A quotient saturates when unlimited exponents would have taken it beyond the largest
// number.
template <class E>
E code_of(const recipe& r, float q, bool nonzero, quantize_counts& counts) {
  const detail::unpacked u = detail::unpack(q);
  if (u.kind == detail::number_class::nan) {
    ++counts.nan;
    if (r.on_nan == nan_rule::largest) return E::from_bits(E::spec.largest_code());
  }
  policy unsaturated = r.conversion;
  unsaturated.on_overflow = overflow_rule::nonfinite;
  unsaturated.on_infinity = overflow_rule::nonfinite;
  const E free = E::from_bits(detail::round_to(E::spec, unsaturated, u));
  if (u.kind != detail::number_class::nan && !isfinite(free)) ++counts.saturated;
  const E code = E::from_bits(detail::round_to(E::spec, r.conversion, u));
  if (nonzero && u.kind != detail::number_class::nan && (code.bits() & E::spec.magnitude_mask()) == 0 &&
      !isnan(code))
    ++counts.flushed;
  return code;
}

template <class E, granularity G, class T, class StepOf>
scaled_matrix<E, G> quantize_with(matrix_view<const T> x, const recipe& r, quantize_counts* counts,
                                  StepOf step_of) {
  const detail::fp_environment_guard guard;
  using scale = typename G::scale_type;
  scaled_matrix<E, G> out(x.rows(), x.cols());
  quantize_counts local;
  for (std::ptrdiff_t i = 0; i < out.scales().rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < out.scales().cols(); ++j) {
      const block b = block_at<G>(i, j, x.rows(), x.cols());
      const scale_step step = step_of(i, j, b);
      out.scales()(i, j) = detail::stored_scale<scale>(step.scale);
      for (std::ptrdiff_t row = b.row; row < b.row_end; ++row) {
        for (std::ptrdiff_t col = b.col; col < b.col_end; ++col) {
          const float v = static_cast<float>(x(row, col));
          const bool nonzero = detail::magnitude_bits(v) != 0;
          out.codes()(row, col) = code_of<E>(r, scaled_element<T>(r, step, v), nonzero, local);
        }
      }
    }
  }
  if (counts != nullptr) *counts += local;
  return out;
}

}  // namespace impl

/// Codes and scales of `x` (float, bf16 or fp16; rows x cols) by a recipe; counts are added to where given.
template <class E, granularity G, matrix_like X>
scaled_matrix<E, G> quantize(const X& x, const recipe& r = {}, quantize_counts* counts = nullptr) {
  using T = std::remove_const_t<element_of<const X>>;
  const matrix_view<const T> view = as_view(x);
  return impl::quantize_with<E, G, T>(
      view, r, counts, [&](std::ptrdiff_t, std::ptrdiff_t, const impl::block& b) {
        return scale_step_for<E, typename G::scale_type, T>(r, impl::amax_of(view, b, r.amax));
      });
}

/// The same with the caller's scales.
template <class E, granularity G, matrix_like X>
scaled_matrix<E, G> quantize(const X& x, const static_scale& scales, const recipe& r = {},
                             quantize_counts* counts = nullptr) {
  using T = std::remove_const_t<element_of<const X>>;
  const matrix_view<const T> view = as_view(x);
  detail::check_static_scale<G>("reference::quantize", scales, view.rows(), view.cols());
  return impl::quantize_with<E, G, T>(view, r, counts,
                                      [&](std::ptrdiff_t i, std::ptrdiff_t j, const impl::block&) {
                                        return static_scale_step<typename G::scale_type>(r, scales(i, j));
                                      });
}

/// code * scale in FP32, rounded once to T (float, bf16 or fp16), NaN canonical.
template <class T = float, scaled_operand Q>
matrix<T> dequantize(const Q& q) {
  const detail::fp_environment_guard guard;
  const auto view = as_scaled_view(q);
  matrix<T> out(view.rows(), view.cols());
  for (std::ptrdiff_t r = 0; r < view.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < view.cols(); ++c) {
      const float product = static_cast<float>(view.codes()(r, c)) * view.scale_at(r, c);
      if constexpr (std::same_as<T, float>) {
        out(r, c) = detail::canonical(product);
      } else {
        out(r, c) = convert<T>(product);
      }
    }
  }
  return out;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8::reference
OFP8_STRICT_FP_END
