// SPDX-License-Identifier: Apache-2.0
// ofp8: moving_average_observer, the exponential moving average of each matrix's smallest and largest finite
// element, as compressed-tensors calibrates activations (averaging constant 0.01).
//
//   moving_average_observer<> seen;                     // {.averaging_constant = 0.01}
//   for (const matrix<bf16>& batch : calibration) seen.observe(batch);
//   float s = seen.scale<e4m3>();
//
// The first matrix sets the average; from then on, in FP32 and one rounding a step,
//   average = average * fl(1 - c) + value * fl(c)
// for the minimum and for the maximum. The average lags behind the true range: numbers beyond it saturate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/observer/min_max.hpp>
#include <ofp8/ops/observer/observe_blocks.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/tensor/matrix.hpp>

namespace ofp8 {

struct moving_average_options {
  double averaging_constant = 0.01;  ///< the weight of the newest matrix: above 0, at most 1
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN

/// The average of one block.
struct averaged_range {
  value_range average;
  value_range first;         ///< of the first matrix, with which the average began
  std::int64_t batches = 0;  ///< matrices with a finite element in this block
};

/// What a moving_average_observer knows, to be saved and loaded.
struct moving_average_state {
  moving_average_options options;
  matrix<averaged_range> blocks;  ///< 0 x 0 before the first matrix
  observed_counts counts;
};

namespace impl {

// The product of two floats is exact in double: one rounding, and nothing to contract with the sum.
inline float float_product(float a, float b) noexcept {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
}
inline float blend(float average, float value, double constant) noexcept {
  const float kept = float_product(average, static_cast<float>(1.0 - constant));
  const float added = float_product(value, static_cast<float>(constant));
  return kept + added;
}
inline void blend(averaged_range& block, const value_range& seen, double constant) noexcept {
  if (!is_seen(seen)) return;
  if (block.batches++ == 0) {
    block.average = block.first = seen;
  } else {
    block.average = {blend(block.average.min, seen.min, constant),
                     blend(block.average.max, seen.max, constant)};
  }
}

inline double whole_power(double base, std::int64_t exponent) noexcept {
  double power = 1.0;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if ((exponent & 1) != 0) power *= base;
  return power;
}
// The later sequence began with `first` at full weight where it would have continued from `earlier`.
inline float continued(float earlier, float later, float first, double decay) noexcept {
  const double difference = static_cast<double>(earlier) - static_cast<double>(first);
  return static_cast<float>(__builtin_fma(decay, difference, static_cast<double>(later)));
}
inline void append(averaged_range& block, const averaged_range& later, double constant) noexcept {
  if (later.batches == 0) return;
  if (block.batches == 0) {
    block = later;
    return;
  }
  const double decay = whole_power(1.0 - constant, later.batches);
  block.average = {continued(block.average.min, later.average.min, later.first.min, decay),
                   continued(block.average.max, later.average.max, later.first.max, decay)};
  block.batches += later.batches;
}

}  // namespace impl

/// Per block of granularity G, as min_max_observer. A matrix without a finite element in a block leaves that
/// block's average as it is.
template <granularity G = per_tensor>
class moving_average_observer {
 public:
  /// Throws argument_error for a constant that is not above 0 and at most 1.
  explicit moving_average_observer(const moving_average_options& options = {})
      : moving_average_observer(moving_average_state{options, {}, {}}) {}
  explicit moving_average_observer(moving_average_state state) : state_(std::move(state)) {
    // On bits, because a NaN has to be refused under -ffast-math too.
    const std::uint64_t bits = detail::bits_of(constant());
    if (bits == 0 || bits > detail::bits_of(1.0))
      impl::refuse_option("moving_average_observer", "averaging_constant", constant(),
                          "above 0 and at most 1");
  }

  /// One step of the average. Throws shape_error when x's grid of blocks is another than before.
  template <detail::wide_matrix X>
  void observe(const X& x, const execution& where = {}) {
    observed_counts counts;
    const matrix<value_range> seen = impl::ranges_of<G>(x, counts, where);
    fit("moving_average_observer::observe", {seen.rows(), seen.cols()});
    const detail::fp_environment_guard guard;
    for (std::ptrdiff_t i = 0; i < seen.rows(); ++i)
      for (std::ptrdiff_t j = 0; j < seen.cols(); ++j)
        impl::blend(state_.blocks(i, j), seen(i, j), constant());
    state_.counts += counts;
  }

  /// Appends what `later` has seen, as if its matrices had been observed after this one's: associative up to
  /// rounding, and the order matters. Throws shape_error when the grids differ, argument_error when the
  /// constants do.
  void merge(const moving_average_observer& later) {
    const matrix<averaged_range>& blocks = later.state_.blocks;
    if (detail::bits_of(constant()) != detail::bits_of(later.constant()))
      impl::refuse_merge("moving_average_observer::merge", "averaging_constant", constant(),
                         later.constant());
    state_.counts += later.counts();
    if (blocks.rows() * blocks.cols() == 0) return;
    fit("moving_average_observer::merge", {blocks.rows(), blocks.cols()});
    const detail::fp_environment_guard guard;
    for (std::ptrdiff_t i = 0; i < blocks.rows(); ++i)
      for (std::ptrdiff_t j = 0; j < blocks.cols(); ++j)
        impl::append(state_.blocks(i, j), blocks(i, j), constant());
  }

  const observed_counts& counts() const noexcept { return state_.counts; }
  matrix<float> amax() const {
    matrix<float> amax(state_.blocks.rows(), state_.blocks.cols());
    for (std::ptrdiff_t i = 0; i < amax.rows(); ++i)
      for (std::ptrdiff_t j = 0; j < amax.cols(); ++j)
        amax(i, j) = impl::amax_of(state_.blocks(i, j).average);
    return amax;
  }

  /// A scale for each block, for static_scale(scales.view()). Throws argument_error when nothing was observed.
  template <fp8_type E>
  [[nodiscard]] matrix<float> scales(const recipe& how = {}) const {
    return impl::scales_from_amax<E, G>("moving_average_observer::scales", amax(), counts(), how);
  }
  /// The one scale of a tensor, for static_scale(scale).
  template <fp8_type E>
  requires detail::one_block<G>
  [[nodiscard]] float scale(const recipe& how = {}) const { return scales<E>(how)(0, 0); }

  const moving_average_state& state() const noexcept { return state_; }

 private:
  double constant() const noexcept { return state_.options.averaging_constant; }

  void fit(const char* function, detail::extent grid) {
    const bool empty = state_.blocks.rows() * state_.blocks.cols() == 0;
    impl::check_block_grid(function, grid, {state_.blocks.rows(), state_.blocks.cols()}, empty);
    if (!empty) return;
    state_.blocks = matrix<averaged_range>(grid.rows, grid.cols);
    for (std::ptrdiff_t i = 0; i < grid.rows; ++i)
      for (std::ptrdiff_t j = 0; j < grid.cols; ++j) state_.blocks(i, j) = averaged_range{};
  }

  moving_average_state state_;
};

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
