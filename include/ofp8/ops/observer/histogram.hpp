// SPDX-License-Identifier: Apache-2.0
// ofp8: histogram_observer counts the magnitudes of each block, so that after any number of matrices a
// percentile, or the scale of least squared error, can be asked for.
//
//   histogram_observer<> seen;                                    // per tensor, 10 mantissa bits: 2 MiB
//   for (const matrix<bf16>& batch : calibration) seen.observe(batch);
//   float s = seen.percentile_scale<e4m3>(99.9);
//   float t = seen.mse_scale<e4m3>({.candidates = 50});
//
// A magnitude is counted rounded up to `mantissa_bits` bits behind the leading one, at every exponent. With 10
// bits that is exact for bf16 and fp16; a float moves up by less than 2^-10 of itself (2^-136 below the
// normals). The counts are integers: observers merge exactly, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/observer/mse_grid.hpp>
#include <ofp8/ops/observer/observe_blocks.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

struct histogram_options {
  int mantissa_bits = 10;  ///< 0 .. 16; a block takes 255 * 2^mantissa_bits + 1 counts of 8 bytes
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN

/// What a histogram_observer knows, to be saved and loaded.
struct histogram_state {
  histogram_options options;
  detail::extent grid{0, 0};    ///< of blocks; 0 x 0 before the first matrix
  matrix<std::int64_t> counts;  ///< one row a block (row after row of the grid), one column a bin
  observed_counts observed;
};

namespace impl {

inline std::ptrdiff_t bins_of(int mantissa_bits) noexcept {
  return (std::ptrdiff_t{255} << mantissa_bits) + 1;
}
/// The magnitude that a bin stands for. The last one holds what was rounded up beyond the floats.
inline float magnitude_of_bin(std::ptrdiff_t bin, int mantissa_bits) noexcept {
  const std::uint32_t bits = static_cast<std::uint32_t>(bin) << (23 - mantissa_bits);
  return detail::float_from_bits(bits < detail::float_infinity ? bits : detail::float_infinity - 1);
}

struct histogram_cells {
  using cell = std::int64_t;
  int mantissa_bits;
  std::ptrdiff_t per_block;

  template <class In>
  void add(const In* x, std::ptrdiff_t n, std::int64_t* block, observed_counts& counts) const noexcept {
    const int shift = 23 - mantissa_bits;
    const std::uint32_t up = (1u << shift) - 1;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const std::uint32_t magnitude = detail::magnitude_bits(scalar::load_float(x[i]));
      if (magnitude < detail::float_infinity) {
        ++block[(magnitude + up) >> shift];
      } else if (magnitude == detail::float_infinity) {
        ++counts.infinite;
      } else {
        ++counts.nan;
      }
    }
  }
  void clear(std::int64_t*, std::ptrdiff_t) const noexcept {}  // a new matrix is zero
  void merge(std::int64_t* into, const std::int64_t* other, std::ptrdiff_t n) const noexcept {
    for (std::ptrdiff_t i = 0; i < n; ++i) into[i] += other[i];
  }
};

/// The smallest integer that is not below p percent of n, at least 1; p is above 0 and at most 100.
inline std::int64_t rank_of_percentile(double p, std::int64_t n) noexcept {
  const double position = p * static_cast<double>(n) / 100.0;
  auto rank = static_cast<std::int64_t>(position);
  if (static_cast<double>(rank) < position) ++rank;
  return rank < 1 ? 1 : rank > n ? n : rank;
}

/// Nearest rank; 0 for an empty block.
inline float percentile_of(const std::int64_t* counts, int mantissa_bits, double p) noexcept {
  const std::ptrdiff_t bins = bins_of(mantissa_bits);
  std::int64_t total = 0;
  for (std::ptrdiff_t bin = 0; bin < bins; ++bin) total += counts[bin];
  if (total == 0) return 0.0f;
  const std::int64_t rank = rank_of_percentile(p, total);
  std::int64_t below = 0;
  for (std::ptrdiff_t bin = 0; bin < bins; ++bin) {
    below += counts[bin];
    if (below >= rank) return magnitude_of_bin(bin, mantissa_bits);
  }
  return 0.0f;
}

/// One magnitude and how often it was seen.
struct weighted_magnitude {
  float magnitude;
  std::int64_t count;
};

/// The bins that hold something, in increasing magnitude, as a 1 x n matrix.
inline matrix<weighted_magnitude> filled_bins(const std::int64_t* counts, int mantissa_bits) {
  const std::ptrdiff_t bins = bins_of(mantissa_bits);
  std::ptrdiff_t filled = 0;
  for (std::ptrdiff_t bin = 0; bin < bins; ++bin) filled += counts[bin] != 0 ? 1 : 0;
  matrix<weighted_magnitude> list(1, filled);
  std::ptrdiff_t at = 0;
  for (std::ptrdiff_t bin = 0; bin < bins; ++bin)
    if (counts[bin] != 0) list(0, at++) = {magnitude_of_bin(bin, mantissa_bits), counts[bin]};
  return list;
}

/// sum count * (magnitude - code * scale)^2 in double, in increasing magnitude.
template <class E>
inline double squared_error(const matrix<weighted_magnitude>& list, const recipe& how,
                            const scale_step& step) noexcept {
  double sum = 0.0;
  for (std::ptrdiff_t i = 0; i < list.cols(); ++i) {
    const weighted_magnitude& m = list(0, i);
    const E code = convert<E>(scaled_element(how, step, m.magnitude));
    const double error = static_cast<double>(m.magnitude) - static_cast<double>(float(code) * step.scale);
    sum = __builtin_fma(error * error, static_cast<double>(m.count), sum);
  }
  return sum;
}

template <class E, scale_type Scale>
inline float mse_scale_of(const matrix<weighted_magnitude>& list, const mse_grid& grid, const recipe& how) {
  const float amax = list.cols() == 0 ? 0.0f : list(0, list.cols() - 1).magnitude;
  float best = scale_step_for<E, Scale>(how, amax).scale;
  std::uint64_t least = ~std::uint64_t{0};  // errors are not negative: ordered like their bits, NaN above all
  for (int i = 0; i < grid.candidates; ++i) {
    const scale_step step = scale_step_for<E, Scale>(how, candidate_amax(grid, amax, i));
    const std::uint64_t error = detail::bits_of(squared_error<E>(list, how, step));
    if (error >= least) continue;
    least = error;
    best = step.scale;
  }
  return best;
}

}  // namespace impl

/// Per block of granularity G; mind the memory where there are many blocks.
template <granularity G = per_tensor>
class histogram_observer {
 public:
  /// Throws argument_error for a number of mantissa bits outside 0 .. 16.
  explicit histogram_observer(const histogram_options& options = {})
      : histogram_observer(histogram_state{options, {0, 0}, {}, {}}) {}
  explicit histogram_observer(histogram_state state) : state_(std::move(state)) {
    if (bits() < 0 || bits() > 16)
      impl::refuse_option("histogram_observer", "mantissa_bits", bits(), "0 .. 16");
    const detail::extent g = state_.grid;
    const std::ptrdiff_t columns = g.rows * g.cols == 0 ? 0 : impl::bins_of(bits());
    if (state_.counts.rows() != g.rows * g.cols || (columns != 0 && state_.counts.cols() != columns))
      refuse_state(columns);
  }

  /// Counts a matrix of float, bf16 or fp16. Allocates a histogram for each task but one. Throws shape_error
  /// when its grid of blocks is another than before.
  template <detail::wide_matrix X>
  void observe(const X& x, const execution& where = {}) {
    using in = std::remove_const_t<element_of<const X>>;
    const matrix_view<const in> view = as_view(x);
    const detail::block_geometry g = detail::geometry_of<G>(view.rows(), view.cols());
    fit("histogram_observer::observe", {g.grid_rows, g.grid_cols});
    const impl::histogram_cells cells{bits(), impl::bins_of(bits())};
    impl::observe_blocks(cells, g, view, state_.counts.data(), state_.observed, where);
  }

  /// Adds what another has counted: associative, in any order, the same counts. Throws shape_error when the
  /// grids differ, argument_error when the mantissa bits do.
  void merge(const histogram_observer& other) {
    if (bits() != other.bits())
      impl::refuse_merge("histogram_observer::merge", "mantissa_bits", bits(), other.bits());
    if (other.blocks() != 0) {
      fit("histogram_observer::merge", other.state_.grid);
      const std::ptrdiff_t n = blocks() * impl::bins_of(bits());
      impl::histogram_cells{bits(), n}.merge(state_.counts.data(), other.state_.counts.data(), n);
    }
    state_.observed += other.state_.observed;
  }

  const observed_counts& counts() const noexcept { return state_.observed; }

  /// The smallest counted magnitude that at least `percent` of each block's finite elements do not exceed
  /// (nearest rank); 100 is the largest, 0 where a block has none. Throws argument_error unless percent is
  /// above 0 and at most 100.
  [[nodiscard]] matrix<float> percentile(double percent) const {
    check_percent(percent);
    const detail::fp_environment_guard guard;
    matrix<float> result(state_.grid.rows, state_.grid.cols);
    for (std::ptrdiff_t b = 0; b < blocks(); ++b)
      result.data()[b] = impl::percentile_of(state_.counts.row(b), bits(), percent);
    return result;
  }

  /// Scales that take that percentile for the amax: what lies beyond it saturates. Throws argument_error when
  /// nothing was observed, too.
  template <fp8_type E>
  [[nodiscard]] matrix<float> percentile_scales(double percent, const recipe& how = {}) const {
    return impl::scales_from_amax<E, G>("histogram_observer::percentile_scales", percentile(percent),
                                        counts(), how);
  }
  template <fp8_type E>
  requires detail::one_block<G>
  [[nodiscard]] float percentile_scale(double percent, const recipe& how = {}) const {
    return percentile_scales<E>(percent, how)(0, 0);
  }

  /// The scales with the least squared error of the counted magnitudes, over a grid of candidates. Codes are
  /// saturating. Throws argument_error when nothing was observed or the grid has no candidates.
  template <fp8_type E>
  [[nodiscard]] matrix<float> mse_scales(const mse_grid& grid = {}, const recipe& how = {}) const {
    impl::check_mse_grid("histogram_observer::mse_scales", grid);
    if (counts().elements == 0) impl::refuse_nothing_observed("histogram_observer::mse_scales");
    const detail::fp_environment_guard guard;
    matrix<float> result(state_.grid.rows, state_.grid.cols);
    for (std::ptrdiff_t b = 0; b < blocks(); ++b)
      result.data()[b] = impl::mse_scale_of<E, typename G::scale_type>(
          impl::filled_bins(state_.counts.row(b), bits()), grid, how);
    return result;
  }
  template <fp8_type E>
  requires detail::one_block<G>
  [[nodiscard]] float mse_scale(const mse_grid& grid = {}, const recipe& how = {}) const {
    return mse_scales<E>(grid, how)(0, 0);
  }

  const histogram_state& state() const noexcept { return state_; }

 private:
  int bits() const noexcept { return state_.options.mantissa_bits; }
  std::ptrdiff_t blocks() const noexcept { return state_.grid.rows * state_.grid.cols; }

  void fit(const char* function, detail::extent grid) {
    impl::check_block_grid(function, grid, state_.grid, blocks() == 0);
    if (blocks() != 0) return;
    state_.counts = matrix<std::int64_t>(grid.rows * grid.cols, impl::bins_of(bits()));
    state_.grid = grid;
  }

  static void check_percent(double percent) {
    const std::uint64_t in_bits = detail::bits_of(percent);
    if (in_bits == 0 || in_bits > detail::bits_of(100.0))
      impl::refuse_option("histogram_observer", "percent", percent, "above 0 and at most 100");
  }
  [[noreturn]] OFP8_COLD void refuse_state(std::ptrdiff_t columns) const {
    detail::message m;
    m << "histogram_observer: counts are " << detail::extent{state_.counts.rows(), state_.counts.cols()}
      << ", " << state_.grid << " blocks need " << detail::extent{blocks(), columns};
    detail::fail<shape_error>(m);
  }

  histogram_state state_;
};

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
