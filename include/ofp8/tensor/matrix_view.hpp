// SPDX-License-Identifier: Apache-2.0
// ofp8: matrix_view, a row-major view of rows x cols elements that it does not own: pointer, sizes, leading
// dimension, all 64-bit. as_view makes one from a matrix and from any rank-2 row-major mdspan; a layout that
// does not fit is refused, never misread.
//
//   matrix_view<const float> x(pointer, tokens, hidden);          // x(r, c) is an element
//   matrix_view<float> head(pointer, tokens, 128, 4096);          // 128 of 4096 columns
//   auto v = as_view(some_mdspan);                                 // std, Kokkos or cuda::std
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>

namespace ofp8 {

OFP8_ALGORITHMS_BEGIN
namespace impl {

// Out of line and cold: the sentence is built once per program, not at every construction of a view.
[[noreturn]] OFP8_COLD inline void refuse_view(std::ptrdiff_t rows, std::ptrdiff_t cols,
                                               std::ptrdiff_t leading_dimension) {
  detail::message m;
  m << "matrix_view: " << detail::extent{rows, cols};
  if (rows < 0 || cols < 0) {
    m << ": a size is negative";
  } else {
    m << " has leading dimension " << std::int64_t{leading_dimension} << ": it is below "
      << std::int64_t{cols} << " columns";
  }
  detail::fail<shape_error>(m);
}

[[noreturn]] OFP8_COLD inline void refuse_strides(std::ptrdiff_t rows, std::ptrdiff_t cols,
                                                  std::ptrdiff_t row_stride, std::ptrdiff_t col_stride) {
  detail::message m;
  m << "as_view: a " << detail::extent{rows, cols} << " mdspan has strides (" << std::int64_t{row_stride}
    << ", " << std::int64_t{col_stride} << "): row-major needs (at least " << std::int64_t{cols} << ", 1)";
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// rows x cols elements, row after row, `leading_dimension` elements from one row to the next. Copying it
/// copies no element. Throws shape_error when a size is negative or the leading dimension is below cols.
/// Element access is not checked.
template <class T>
class matrix_view {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  /// 0 x 0.
  OFP8_INLINE_MEMBER constexpr matrix_view() noexcept {}
  OFP8_INLINE_MEMBER constexpr matrix_view(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols)
      : matrix_view(data, rows, cols, cols) {}
  OFP8_INLINE_MEMBER constexpr matrix_view(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                           std::ptrdiff_t leading_dimension)
      : data_(data), rows_(rows), cols_(cols), leading_dimension_(leading_dimension) {
    if (rows < 0 || cols < 0 || leading_dimension < cols) impl::refuse_view(rows, cols, leading_dimension);
  }
  /// Adds const.
  template <class U>
  requires(!std::same_as<U, T> && std::convertible_to<U (*)[], T (*)[]>)  //
      OFP8_INLINE_MEMBER constexpr matrix_view(const matrix_view<U>& other) noexcept
      : data_(other.data()),
        rows_(other.rows()),
        cols_(other.cols()),
        leading_dimension_(other.leading_dimension()) {}

  OFP8_INLINE_MEMBER constexpr T& operator()(std::ptrdiff_t row, std::ptrdiff_t col) const noexcept {
    return data_[row * leading_dimension_ + col];
  }
  /// Pointer to the first element of a row.
  OFP8_INLINE_MEMBER constexpr T* row(std::ptrdiff_t row) const noexcept {
    return data_ + row * leading_dimension_;
  }
  OFP8_INLINE_MEMBER constexpr T* data() const noexcept { return data_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t rows() const noexcept { return rows_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t cols() const noexcept { return cols_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t leading_dimension() const noexcept {
    return leading_dimension_;
  }

 private:
  T* data_ = nullptr;
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t cols_ = 0;
  std::ptrdiff_t leading_dimension_ = 0;
};

namespace detail {

// The reference test keeps out accessors that compute what they return (a scaled or atomic one): their
// data_handle points at other numbers.
template <class X>
concept rank_2_mdspan = requires(const X& x) {
  typename X::element_type;
  typename X::reference;
  requires X::rank()
  == 2;
  requires std::same_as<typename X::reference, typename X::element_type&>;
  { x.data_handle() } -> std::convertible_to<typename X::element_type*>;
  { x.extent(0) } -> std::integral;
  { x.stride(0) } -> std::integral;
};

template <class X>
OFP8_INLINE constexpr bool is_strided(const X& x) noexcept {
  if constexpr (requires { x.is_strided(); }) {
    return static_cast<bool>(x.is_strided());
  } else {
    return true;
  }
}

}  // namespace detail

template <class T>
OFP8_INLINE constexpr matrix_view<T> as_view(matrix_view<T> v) noexcept {
  return v;
}

/// A row-major rank-2 mdspan of any library (row stride at least the columns, column stride 1). Strides that
/// no element depends on (of a single row, of a single column) may be anything. Throws shape_error for other
/// layouts.
template <detail::rank_2_mdspan X>
OFP8_INLINE constexpr matrix_view<typename X::element_type> as_view(const X& x) {
  const auto rows = static_cast<std::ptrdiff_t>(x.extent(0));
  const auto cols = static_cast<std::ptrdiff_t>(x.extent(1));
  if (rows == 0 || cols == 0 || !detail::is_strided(x)) {
    if (rows != 0 && cols != 0) impl::refuse_strides(rows, cols, -1, -1);
    return {x.data_handle(), rows, cols};
  }
  const auto row_stride = static_cast<std::ptrdiff_t>(x.stride(0));
  const auto col_stride = static_cast<std::ptrdiff_t>(x.stride(1));
  const bool rows_fit = rows == 1 || row_stride >= cols;
  const bool cols_fit = cols == 1 || col_stride == 1;
  if (!rows_fit || !cols_fit) impl::refuse_strides(rows, cols, row_stride, col_stride);
  return {x.data_handle(), rows, cols, rows == 1 ? cols : row_stride};
}

/// What matrix arguments may be: a matrix, a matrix_view, a rank-2 mdspan, or a type with its own as_view.
template <class X>
concept matrix_like = requires(std::remove_reference_t<X>& x) {
  as_view(x);
};

/// The element type seen through as_view, const included.
template <class X>
using element_of = typename decltype(as_view(std::declval<std::remove_reference_t<X>&>()))::element_type;

}  // namespace ofp8
