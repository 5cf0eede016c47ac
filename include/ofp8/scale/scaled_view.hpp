// SPDX-License-Identifier: Apache-2.0
// ofp8: scaled_view<E, G>, codes and their scales together: real = code * scale. It owns neither; a scale
// never travels without its codes. scaled_view<const E, G> is read-only.
//
//   scaled_view<const e4m3, per_channel> weight{codes_view, scales_view};     // what a checkpoint holds
//   weight.codes()(r, c);  weight.scales()(r, 0);  weight.scale_at(r, c);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_scales(detail::extent codes, detail::extent scales,
                                                 detail::extent expected) {
  detail::message m;
  m << "scaled_view: codes are " << codes << ", scales are " << scales << ": this granularity needs "
    << expected << " scales";
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// What can carry scales: an FP8 code, or the integer that FP8 is compared with.
template <class T>
concept code_type = fp8_type<T> || std::same_as<T, std::int8_t>;

/// A rows x cols view of codes and the scale_rows(rows) x scale_cols(cols) view of their scales, both
/// writable unless E is const. Throws shape_error when the two do not fit each other.
template <class E, granularity G>
requires code_type<std::remove_const_t<E>>
class scaled_view {
 public:
  using element_type = E;  ///< const E in a read-only view
  using code = std::remove_const_t<E>;
  using granularity = G;
  using scale_type = typename G::scale_type;
  using scale_element = std::conditional_t<std::is_const_v<E>, const scale_type, scale_type>;

  OFP8_INLINE_MEMBER constexpr scaled_view(matrix_view<E> codes, scale_grid<scale_element> scales)
      : codes_(codes), scales_(scales) {
    const std::ptrdiff_t rows = G::scale_rows(codes.rows()), cols = G::scale_cols(codes.cols());
    if (scales.rows() != rows || scales.cols() != cols)
      impl::refuse_scales({codes.rows(), codes.cols()}, {scales.rows(), scales.cols()}, {rows, cols});
  }
  /// Adds const.
  template <class U>
  requires(!std::same_as<U, E> && std::same_as<const U, E>)  //
      OFP8_INLINE_MEMBER constexpr scaled_view(const scaled_view<U, G>& other) noexcept
      : codes_(other.codes()), scales_(other.scales()) {}

  OFP8_INLINE_MEMBER constexpr matrix_view<E> codes() const noexcept { return codes_; }
  OFP8_INLINE_MEMBER constexpr scale_grid<scale_element> scales() const noexcept { return scales_; }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t rows() const noexcept { return codes_.rows(); }
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t cols() const noexcept { return codes_.cols(); }

  /// The scale of element (row, col), exact.
  OFP8_INLINE_MEMBER constexpr float scale_at(std::ptrdiff_t row, std::ptrdiff_t col) const noexcept {
    return static_cast<float>(scales_(G::scale_row(row), G::scale_col(col)));
  }

 private:
  matrix_view<E> codes_;
  scale_grid<scale_element> scales_;
};

template <class E, class G>
OFP8_INLINE constexpr scaled_view<E, G> as_scaled_view(scaled_view<E, G> v) noexcept {
  return v;
}

/// Codes with scales: a scaled_view, a scaled_matrix, or a type with its own as_scaled_view.
template <class X>
concept scaled_operand = requires(std::remove_reference_t<X>& x) {
  as_scaled_view(x);
};

/// The scaled_view that an operand is seen through.
template <scaled_operand X>
using scaled_view_of = decltype(as_scaled_view(std::declval<std::remove_reference_t<X>&>()));
/// Its code type, without const.
template <scaled_operand X>
using code_of = typename scaled_view_of<X>::code;
/// Its granularity.
template <scaled_operand X>
using granularity_of = typename scaled_view_of<X>::granularity;

}  // namespace ofp8
