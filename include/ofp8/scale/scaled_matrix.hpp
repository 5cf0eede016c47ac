// SPDX-License-Identifier: Apache-2.0
// ofp8: scaled_matrix<E, G>, which owns codes and scales: what quantize returns. Any operation that takes a
// scaled_view takes it as it is.
//
//   auto wq = quantize<e4m3, per_channel>(w);                 // scaled_matrix<e4m3, per_channel>
//   wq.codes()(r, c);  wq.scales()(r, 0);  float(wq.codes()(r, c)) * wq.scale_at(r, c);
#pragma once

#include <cstddef>
#include <utility>

#include <ofp8/core/config.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>

namespace ofp8 {

/// rows x cols codes and their grid of scales, zero-initialised. Copies are deep. Throws shape_error for
/// sizes that `matrix` refuses. A moved-from object can be assigned to and destroyed.
template <code_type E, granularity G>
class scaled_matrix {
 public:
  using element_type = E;
  using code = E;
  using granularity = G;
  using scale_type = typename G::scale_type;

  OFP8_INLINE_MEMBER scaled_matrix(std::ptrdiff_t rows, std::ptrdiff_t cols)
      : codes_(rows, cols), scales_(G::scale_rows(rows), G::scale_cols(cols)) {}
  /// Takes what exists already. Throws shape_error when the two do not fit each other.
  OFP8_INLINE_MEMBER scaled_matrix(matrix<E> codes, matrix<scale_type> scales)
      : codes_(std::move(codes)), scales_(std::move(scales)) {
    (void)view();  // checks
  }
  OFP8_INLINE_MEMBER scaled_matrix(const scaled_matrix& other)
      : codes_(other.codes_), scales_(other.scales_) {}
  OFP8_INLINE_MEMBER scaled_matrix(scaled_matrix&& other) noexcept
      : codes_(static_cast<matrix<E>&&>(other.codes_)),
        scales_(static_cast<matrix<scale_type>&&>(other.scales_)) {}
  OFP8_INLINE_MEMBER scaled_matrix& operator=(const scaled_matrix& other) {
    codes_ = other.codes_;
    scales_ = other.scales_;
    return *this;
  }
  OFP8_INLINE_MEMBER scaled_matrix& operator=(scaled_matrix&& other) noexcept {
    codes_ = static_cast<matrix<E>&&>(other.codes_);
    scales_ = static_cast<matrix<scale_type>&&>(other.scales_);
    return *this;
  }
  OFP8_INLINE_MEMBER ~scaled_matrix() {}

  OFP8_INLINE_MEMBER matrix_view<E> codes() & noexcept { return codes_.view(); }
  OFP8_INLINE_MEMBER matrix_view<const E> codes() const& noexcept { return codes_.view(); }
  OFP8_INLINE_MEMBER scale_grid<scale_type> scales() & noexcept { return scales_.view(); }
  OFP8_INLINE_MEMBER scale_grid<const scale_type> scales() const& noexcept { return scales_.view(); }
  OFP8_INLINE_MEMBER scaled_view<E, G> view() & { return {codes(), scales()}; }
  OFP8_INLINE_MEMBER scaled_view<const E, G> view() const& { return {codes(), scales()}; }
  // The memory of a temporary is gone when the view is used.
  void codes() const&& = delete;
  void scales() const&& = delete;
  void view() const&& = delete;

  OFP8_INLINE_MEMBER std::ptrdiff_t rows() const noexcept { return codes_.rows(); }
  OFP8_INLINE_MEMBER std::ptrdiff_t cols() const noexcept { return codes_.cols(); }
  /// The scale of element (row, col), exact.
  OFP8_INLINE_MEMBER float scale_at(std::ptrdiff_t row, std::ptrdiff_t col) const noexcept {
    return static_cast<float>(scales_(G::scale_row(row), G::scale_col(col)));
  }

  OFP8_INLINE_MEMBER operator scaled_view<E, G>() & { return view(); }             // NOLINT: implicit
  OFP8_INLINE_MEMBER operator scaled_view<const E, G>() const& { return view(); }  // NOLINT: implicit
  operator scaled_view<E, G>() && = delete;
  operator scaled_view<const E, G>() const&& = delete;

 private:
  matrix<E> codes_;
  matrix<scale_type> scales_;
};

template <class E, class G>
OFP8_INLINE scaled_view<E, G> as_scaled_view(scaled_matrix<E, G>& x) {
  return x.view();
}
template <class E, class G>
OFP8_INLINE scaled_view<const E, G> as_scaled_view(const scaled_matrix<E, G>& x) {
  return x.view();
}
template <class E, class G>
void as_scaled_view(const scaled_matrix<E, G>&&) = delete;  // a view of a temporary

}  // namespace ofp8
