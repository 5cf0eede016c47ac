// SPDX-License-Identifier: Apache-2.0
// ofp8: scale_grid, a view of the scales of a matrix: rows x cols with two strides, so that the column-major
// ("M-major") grids of DeepGEMM and torch need no copy.
//
//   scale_grid<const float> channel(weight_scale, n, 1);                  // an [N, 1] tensor
//   scale_grid<const float> m_major(pointer, tokens, k / 128, 1, tokens);
//   float s = channel(row, 0);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_grid(std::ptrdiff_t rows, std::ptrdiff_t cols,
                                               std::ptrdiff_t row_stride, std::ptrdiff_t col_stride) {
  detail::message m;
  m << "scale_grid: " << detail::extent{rows, cols} << " with strides (" << std::int64_t{row_stride} << ", "
    << std::int64_t{col_stride} << "): ";
  m << (rows < 0 || cols < 0               ? "a size is negative"
        : row_stride < 0 || col_stride < 0 ? "a stride is negative"
                                           : "a grid that is written to needs strides above 0");
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// rows x cols scales at data[i * row_stride + j * col_stride]. Throws shape_error when a size or stride is
/// negative. A read-only grid may have strides of 0 (one scale seen as many); a writable one may not.
template <class Scale>
requires scale_type<std::remove_const_t<Scale>>
class scale_grid {
 public:
  using element_type = Scale;
  using value_type = std::remove_const_t<Scale>;

  /// Contiguous, row after row.
  OFP8_INLINE_MEMBER constexpr scale_grid(Scale* data, std::ptrdiff_t rows, std::ptrdiff_t cols)
      : scale_grid(data, rows, cols, cols > 0 ? cols : 1, 1) {}
  OFP8_INLINE_MEMBER constexpr scale_grid(Scale* data, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                          std::ptrdiff_t row_stride, std::ptrdiff_t col_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {
    const bool overlaps = (rows > 1 && row_stride == 0) || (cols > 1 && col_stride == 0);
    if (rows < 0 || cols < 0 || row_stride < 0 || col_stride < 0 || (!std::is_const_v<Scale> && overlaps))
      impl::refuse_grid(rows, cols, row_stride, col_stride);
  }
  /// Adds const.
  template <class S>
  requires(!std::same_as<S, Scale> && std::same_as<const S, Scale>)  //
      OFP8_INLINE_MEMBER constexpr scale_grid(const scale_grid<S>& other) noexcept
      : data_(other.data()),
        rows_(other.rows()),
        cols_(other.cols()),
        row_stride_(other.row_stride()),
        col_stride_(other.col_stride()) {}
  template <class S>
  requires(std::same_as<S, Scale> || std::same_as<const S, Scale>)  //
      OFP8_INLINE_MEMBER constexpr scale_grid(const matrix_view<S>& scales) noexcept
      : data_(scales.data()),
        rows_(scales.rows()),
        cols_(scales.cols()),
        row_stride_(scales.leading_dimension()),
        col_stride_(1) {}

  OFP8_INLINE_MEMBER constexpr Scale& operator()(std::ptrdiff_t i, std::ptrdiff_t j) const noexcept {
    return data_[i * row_stride_ + j * col_stride_];
  }
  OFP8_INLINE_MEMBER constexpr Scale* data() const noexcept { return data_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t rows() const noexcept { return rows_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t cols() const noexcept { return cols_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t row_stride() const noexcept { return row_stride_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t col_stride() const noexcept { return col_stride_; }

 private:
  Scale* data_;
  std::ptrdiff_t rows_, cols_;
  std::ptrdiff_t row_stride_, col_stride_;  // in elements
};

}  // namespace ofp8
