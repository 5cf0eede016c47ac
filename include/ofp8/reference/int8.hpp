// SPDX-License-Identifier: Apache-2.0
// ofp8: symmetric INT8, for the comparison that the field always makes: s = amax / 127, code = round(x / s) in
// -127 .. 127, the sum of products in 64-bit integers. A reference to compare with, not a fast path.
//
//   auto aq = reference::quantize_int8<per_token>(a);
//   auto wq = reference::quantize_int8<per_channel>(w);
//   reference::gemm_nt_int8(aq, wq, d);                   // d float
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/reference/fma.hpp>
#include <ofp8/reference/gemm.hpp>
#include <ofp8/reference/quantize.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8::reference {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// Nearest, ties to even, clamped to -127 .. 127; a NaN becomes 0. The magic number leaves the integer in the low bits.
inline std::int8_t int8_code(float q) {
  if (detail::is_nan(q)) return 0;
  if (q >= 127.0f) return 127;
  if (q <= -127.0f) return -127;
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23
  return static_cast<std::int8_t>(static_cast<int>((q + magic) - magic));
}

}  // namespace impl

/// s = amax / 127 (1 for a block of zeros; NaN and infinity are left out of amax), code = round(x / s).
template <granularity G, matrix_like X>
scaled_matrix<std::int8_t, G> quantize_int8(const X& x) {
  const detail::fp_environment_guard guard;
  using T = std::remove_const_t<element_of<const X>>;
  const matrix_view<const T> view = as_view(x);
  scaled_matrix<std::int8_t, G> out(view.rows(), view.cols());
  for (std::ptrdiff_t i = 0; i < out.scales().rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < out.scales().cols(); ++j) {
      const impl::block b = impl::block_at<G>(i, j, view.rows(), view.cols());
      const float s = scale_step_for<std::int8_t, float, T>(recipes::standard,
                                                            impl::amax_of(view, b, amax_rule::finite_only))
                          .scale;
      out.scales()(i, j) = s;
      for (std::ptrdiff_t r = b.row; r < b.row_end; ++r)
        for (std::ptrdiff_t c = b.col; c < b.col_end; ++c)
          out.codes()(r, c) = impl::int8_code(static_cast<float>(view(r, c)) / s);
    }
  }
  return out;
}

/// d[m,n] = sum over the segments of K of (integer sum) * (sa * sb), in FP32 by fma, as the FP8 GEMM does. K is cut at
/// every boundary of either scale grid; the integer sums are exact. Throws shape_error.
template <granularity GA, granularity GB>
void gemm_nt_int8(const scaled_matrix<std::int8_t, GA>& a, const scaled_matrix<std::int8_t, GB>& b,
                  matrix_view<float> d) {
  const detail::fp_environment_guard guard;
  if (a.cols() != b.cols() || d.rows() != a.rows() || d.cols() != b.rows()) {
    detail::message m;
    m << "reference::gemm_nt_int8: A is " << detail::extent{a.rows(), a.cols()} << ", B is "
      << detail::extent{b.rows(), b.cols()} << ", D is " << detail::extent{d.rows(), d.cols()};
    detail::fail<shape_error>(m);
  }
  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      float v = 0.0f;
      for (std::ptrdiff_t begin = 0; begin < a.cols();) {
        const std::ptrdiff_t end = impl::smaller(impl::next_boundary(begin, GA::cols, a.cols()),
                                                 impl::next_boundary(begin, GB::cols, a.cols()));
        std::int64_t sum = 0;
        for (std::ptrdiff_t k = begin; k < end; ++k)
          sum += static_cast<std::int64_t>(a.codes()(m, k)) * static_cast<std::int64_t>(b.codes()(n, k));
        const float alpha = a.scale_at(m, begin) * b.scale_at(n, begin);
        v = impl::fma(static_cast<float>(sum), alpha, v);
        begin = end;
      }
      d(m, n) = v;
    }
  }
}

template <granularity GA, granularity GB>
void gemm_nt_int8(const scaled_matrix<std::int8_t, GA>& a, const scaled_matrix<std::int8_t, GB>& b,
                  matrix<float>& d) {
  gemm_nt_int8(a, b, d.view());
}

OFP8_ALGORITHMS_END
}  // namespace ofp8::reference
OFP8_STRICT_FP_END
