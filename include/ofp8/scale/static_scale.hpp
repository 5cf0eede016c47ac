// SPDX-License-Identifier: Apache-2.0
// ofp8: static_scale, scales that the caller gives instead of having them computed from the live tensor: one
// number for every block, or a grid. Always explicit, because a bare 0.25f argument would be too easy to
// mistake.
//
//   quantize<e4m3, per_tensor>(a, static_scale(0.25f));
//   quantize<e4m3, per_channel>(w, static_scale(calibrated.view()), recipes::vllm_tensor_static);
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scale_grid.hpp>

namespace ofp8 {

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_scale(const char* function, float scale, bool storable) {
  detail::message m;
  m << function << ": scale " << static_cast<double>(scale);
  m << (storable ? " is not finite and positive" : " cannot be stored in the scale's type without rounding");
  detail::fail<argument_error>(m);
}

[[noreturn]] OFP8_COLD inline void refuse_static_grid(const char* function, detail::extent given,
                                                      detail::extent expected) {
  detail::message m;
  m << function << ": static scales are " << given << ": this granularity needs " << expected << " scales";
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

namespace detail {

/// Tested on bits: true under -ffast-math too.
OFP8_INLINE constexpr bool is_finite_and_positive(float scale) noexcept {
  return bits_of(scale) - 1 < float_infinity - 1;  // +0 wraps around; a sign bit is above
}

OFP8_INLINE constexpr void check_scale(const char* function, float scale) {
  if (!is_finite_and_positive(scale)) impl::refuse_scale(function, scale, true);
}

/// `scale` as a Scale, where that is exact (always for float); the caller has rounded it before.
template <scale_type Scale>
OFP8_INLINE constexpr Scale stored_scale(float scale) noexcept {
  if constexpr (std::same_as<Scale, float>) {
    return scale;
  } else if constexpr (std::same_as<Scale, e8m0>) {
    return convert_e8m0(scale, e8m0_rounding::floor);
  } else {
    return convert<Scale>(scale);
  }
}

}  // namespace detail

/// One scale for every block, or a grid with one for each block (a view: the grid must outlive it). Throws
/// argument_error when the one scale is not finite and positive; a grid is checked where it is used.
class static_scale {
 public:
  OFP8_INLINE_MEMBER explicit constexpr static_scale(float scale) : value_(scale), grid_(nullptr, 0, 0) {
    detail::check_scale("static_scale", scale);
  }
  OFP8_INLINE_MEMBER explicit constexpr static_scale(scale_grid<const float> scales) noexcept
      : value_(0.0f), grid_(scales) {}

  OFP8_INLINE_MEMBER constexpr bool is_grid() const noexcept { return detail::bits_of(value_) == 0; }
  /// Meaningful where is_grid().
  OFP8_INLINE_MEMBER constexpr scale_grid<const float> grid() const noexcept { return grid_; }
  /// The scale of block (i, j).
  OFP8_INLINE_MEMBER constexpr float operator()(std::ptrdiff_t i, std::ptrdiff_t j) const noexcept {
    return is_grid() ? grid_(i, j) : value_;
  }

 private:
  float value_;  // +0: there is a grid
  scale_grid<const float> grid_;
};

namespace detail {

template <scale_type Scale>
OFP8_INLINE constexpr void check_stored_scale(const char* function, float scale) {
  check_scale(function, scale);
  if (bits_of(static_cast<float>(stored_scale<Scale>(scale))) != bits_of(scale))
    impl::refuse_scale(function, scale, false);
}

/// Whether `scales` can be the scales of a rows x cols matrix with granularity G: shape_error when a grid has
/// another shape; argument_error when a scale is not finite and positive, or not a number of G's scale type.
template <granularity G>
OFP8_INLINE constexpr void check_static_scale(const char* function, const static_scale& scales,
                                              std::ptrdiff_t rows, std::ptrdiff_t cols) {
  using scale = typename G::scale_type;
  if (!scales.is_grid()) {
    check_stored_scale<scale>(function, scales(0, 0));
    return;
  }
  const scale_grid<const float> grid = scales.grid();
  const std::ptrdiff_t grid_rows = G::scale_rows(rows), grid_cols = G::scale_cols(cols);
  if (grid.rows() != grid_rows || grid.cols() != grid_cols)
    impl::refuse_static_grid(function, {grid.rows(), grid.cols()}, {grid_rows, grid_cols});
  for (std::ptrdiff_t i = 0; i < grid_rows; ++i)
    for (std::ptrdiff_t j = 0; j < grid_cols; ++j) check_stored_scale<scale>(function, grid(i, j));
}

}  // namespace detail
}  // namespace ofp8
