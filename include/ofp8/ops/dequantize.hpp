// SPDX-License-Identifier: Apache-2.0
// ofp8: dequantize(q): codes and scales back to numbers, one FP32 product code * scale, one rounding to the
// output type, NaN canonical.
//
//   matrix<float> back = dequantize(wq);
//   matrix<bf16> half = dequantize<bf16>(wq);
//   dequantize_into(wq, rows_of_a_larger_matrix);
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/range.hpp>
#include <ofp8/ops/split.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8::detail {

/// Scaled FP8 codes, whoever owns them.
template <class Q>
concept scaled_codes = scaled_operand<const Q> && fp8_type<code_of<const Q>>;

/// A writable matrix of float, bf16 or fp16.
template <class D>
concept wide_matrix_output = output_matrix<D> && wide_number<element_of<D>>;

}  // namespace ofp8::detail

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_dequantize(const char* function, detail::extent q,
                                                     detail::extent out) {
  detail::message m;
  m << function << ": q is " << q << ", out is " << out << ": shapes differ";
  detail::fail<shape_error>(m);
}

template <class E, class Scale, class Out>
inline void dequantize_rows(const detail::block_geometry& g, std::ptrdiff_t first_row,
                            std::ptrdiff_t last_row, matrix_view<const E> codes,
                            scale_grid<const Scale> scales, matrix_view<Out> out,
                            typename codec_kernels<E>::template dequantize_fn<Out> kernel) noexcept {
  float of_window[detail::block_geometry::window];
  for (std::ptrdiff_t first = 0; first < g.grid_cols; first += detail::block_geometry::window) {
    const detail::index_range blocks = g.window_from(first);
    const detail::index_range columns = g.columns_of_blocks(blocks);
    std::ptrdiff_t strip = -1;
    for (std::ptrdiff_t r = first_row; r < last_row; ++r) {
      if (r / g.block_rows != strip) {
        strip = r / g.block_rows;
        for (std::ptrdiff_t j = blocks.first; j < blocks.last; ++j)
          of_window[j - blocks.first] = static_cast<float>(scales(strip, j));
      }
      kernel(codes.row(r) + columns.first, columns.size(), g.block_cols, of_window,
             out.row(r) + columns.first);
    }
  }
}

template <class E, granularity G, class Out>
inline void dequantize_into(const char* function, const scaled_view<const E, G>& q, matrix_view<Out> out,
                            const execution& where) {
  if (q.rows() != out.rows() || q.cols() != out.cols())
    refuse_dequantize(function, {q.rows(), q.cols()}, {out.rows(), out.cols()});
  const auto kernel = detail::dequantize_kernel<Out>(codec_kernels_of<E>(resolve(function, where.isa)));
  const detail::block_geometry g = detail::geometry_of<G>(q.rows(), q.cols());
  for_each_part(where, g.rows, task_count(where, g.rows, g.cols, g.rows),
                [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t last) {
                  dequantize_rows<E>(g, first, last, q.codes(), q.scales(), out, kernel);
                });
}

template <class Q, class Out>
inline void dequantize_operand_into(const char* function, const Q& q, matrix_view<Out> out,
                                    const execution& where) {
  const scaled_view<const code_of<const Q>, granularity_of<const Q>> view = as_scaled_view(q);
  dequantize_into(function, view, out, where);
}

}  // namespace impl

/// out(r, c) = code(r, c) * scale(r, c) for a scaled_view or scaled_matrix `q` and a matrix or view `out` of
/// float, bf16 or fp16, of the same shape. Throws shape_error when the shapes differ, argument_error for an
/// isa that this machine lacks.
template <detail::scaled_codes Q, detail::wide_matrix_output D>
inline void dequantize_into(const Q& q, D&& out, const execution& where = {}) {
  impl::dequantize_operand_into("dequantize_into", q, as_view(out), where);
}

/// The same into a new matrix<Out>.
template <detail::wide_number Out = float, detail::scaled_codes Q>
[[nodiscard]] inline matrix<Out> dequantize(const Q& q, const execution& where = {}) {
  matrix<Out> out(q.rows(), q.cols());
  impl::dequantize_operand_into("dequantize", q, out.view(), where);
  return out;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
