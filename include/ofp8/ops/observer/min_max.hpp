// SPDX-License-Identifier: Apache-2.0
// ofp8: min_max_observer, the smallest and largest finite element that was ever seen in each block, and from
// them a static scale: max(|min|, |max|) / MAX by the default recipe.
//
//   min_max_observer<> seen;                            // per tensor
//   for (const matrix<float>& batch : calibration) seen.observe(batch);
//   auto q = quantize<e4m3, per_tensor>(x, static_scale(seen.scale<e4m3>()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/observer/observe_blocks.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

/// The range of a block's finite elements. -0 lies below +0.
struct value_range {
  float min = detail::float_from_bits(detail::float_infinity);  ///< +Inf: nothing was seen
  float max = detail::float_from_bits(detail::float_sign | detail::float_infinity);
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// Floats are ordered like these integers, and no compiler option changes how integers compare.
inline std::int32_t order_key(float x) noexcept {
  const auto bits = static_cast<std::int32_t>(detail::bits_of(x));
  return bits < 0 ? bits ^ 0x7fff'ffff : bits;
}
inline float float_of_key(std::int32_t key) noexcept {
  return detail::float_from_bits(static_cast<std::uint32_t>(key < 0 ? key ^ 0x7fff'ffff : key));
}

inline bool is_seen(const value_range& r) noexcept { return order_key(r.min) <= order_key(r.max); }
inline void merge_range(value_range& into, const value_range& other) noexcept {
  if (order_key(other.min) < order_key(into.min)) into.min = other.min;
  if (order_key(other.max) > order_key(into.max)) into.max = other.max;
}
/// max(|min|, |max|), 0 where nothing was seen.
inline float amax_of(const value_range& r) noexcept {
  if (!is_seen(r)) return 0.0f;
  const std::uint32_t low = detail::magnitude_bits(r.min), high = detail::magnitude_bits(r.max);
  return detail::float_from_bits(low > high ? low : high);
}

struct range_cells {
  using cell = value_range;
  static constexpr std::ptrdiff_t per_block = 1;

  template <class In>
  void add(const In* x, std::ptrdiff_t n, value_range* block, observed_counts& counts) const noexcept {
    std::int32_t low = order_key(block->min), high = order_key(block->max);
    std::int64_t nan = 0, infinite = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const float v = scalar::load_float(x[i]);
      const std::uint32_t magnitude = detail::magnitude_bits(v);
      const std::int32_t key = order_key(v);
      const bool finite = magnitude < detail::float_infinity;
      nan += magnitude > detail::float_infinity ? 1 : 0;
      infinite += magnitude == detail::float_infinity ? 1 : 0;
      low = finite && key < low ? key : low;
      high = finite && key > high ? key : high;
    }
    *block = {float_of_key(low), float_of_key(high)};
    counts.nan += nan;
    counts.infinite += infinite;
  }
  void clear(value_range* cells, std::ptrdiff_t n) const noexcept {
    for (std::ptrdiff_t i = 0; i < n; ++i) cells[i] = value_range{};
  }
  void merge(value_range* into, const value_range* other, std::ptrdiff_t n) const noexcept {
    for (std::ptrdiff_t i = 0; i < n; ++i) merge_range(into[i], other[i]);
  }
};

/// The ranges of the blocks of one matrix.
template <granularity G, class X>
inline matrix<value_range> ranges_of(const X& x, observed_counts& counts, const execution& where) {
  using in = std::remove_const_t<element_of<const X>>;
  const matrix_view<const in> view = as_view(x);
  const detail::block_geometry g = detail::geometry_of<G>(view.rows(), view.cols());
  matrix<value_range> ranges(g.grid_rows, g.grid_cols);
  const range_cells cells;
  cells.clear(ranges.data(), g.grid_rows * g.grid_cols);
  observe_blocks(cells, g, view, ranges.data(), counts, where);
  return ranges;
}

inline matrix<float> amax_of(const matrix<value_range>& ranges) {
  matrix<float> amax(ranges.rows(), ranges.cols());
  for (std::ptrdiff_t i = 0; i < amax.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < amax.cols(); ++j) amax(i, j) = amax_of(ranges(i, j));
  return amax;
}

}  // namespace impl

/// What a min_max_observer knows, to be saved and loaded.
struct min_max_state {
  matrix<value_range> ranges;  ///< one a block; 0 x 0 before the first matrix
  observed_counts counts;
};

/// Per block of granularity G: per_tensor, per_channel, or scale_block<whole, 128> for static groups of K. The
/// first matrix decides the grid of blocks; the later ones must have the same (any number of rows is fine where
/// G::rows is whole).
template <granularity G = per_tensor>
class min_max_observer {
 public:
  min_max_observer() = default;
  explicit min_max_observer(min_max_state state) : state_(std::move(state)) {}

  /// Adds a matrix of float, bf16 or fp16. Throws shape_error when its grid of blocks is another.
  template <detail::wide_matrix X>
  void observe(const X& x, const execution& where = {}) {
    min_max_state seen;
    seen.ranges = impl::ranges_of<G>(x, seen.counts, where);
    add("min_max_observer::observe", seen);
  }

  /// Adds what another has seen (a thread, a file): associative, in any order, the same bits. Throws
  /// shape_error when the grids differ.
  void merge(const min_max_observer& other) { add("min_max_observer::merge", other.state_); }

  const observed_counts& counts() const noexcept { return state_.counts; }
  const matrix<value_range>& ranges() const noexcept { return state_.ranges; }
  matrix<float> amax() const { return impl::amax_of(state_.ranges); }

  /// A scale for each block, for static_scale(scales.view()). Throws argument_error when nothing was observed.
  template <fp8_type E>
  [[nodiscard]] matrix<float> scales(const recipe& how = {}) const {
    return impl::scales_from_amax<E, G>("min_max_observer::scales", amax(), counts(), how);
  }
  /// The one scale of a tensor, for static_scale(scale).
  template <fp8_type E>
  requires detail::one_block<G>
  [[nodiscard]] float scale(const recipe& how = {}) const { return scales<E>(how)(0, 0); }

  const min_max_state& state() const noexcept { return state_; }

 private:
  void add(const char* function, const min_max_state& other) {
    if (other.counts.elements == 0 && other.ranges.rows() * other.ranges.cols() == 0) return;
    const bool empty = state_.ranges.rows() * state_.ranges.cols() == 0;
    impl::check_block_grid(function, {other.ranges.rows(), other.ranges.cols()},
                           {state_.ranges.rows(), state_.ranges.cols()}, empty);
    if (empty) {
      state_.ranges = other.ranges;
    } else {
      const std::ptrdiff_t n = other.ranges.rows() * other.ranges.cols();
      impl::range_cells{}.merge(state_.ranges.data(), other.ranges.data(), n);
    }
    state_.counts += other.counts;
  }

  min_max_state state_;
};

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
