// SPDX-License-Identifier: Apache-2.0
// ofp8: amax_history_observer, delayed scaling (TransformerEngine's te_delayed, flax's fp8_ops): a tensor is
// quantized with a scale made of the amaxes of the steps before it, and its own amax is recorded afterwards.
//
//   amax_history_observer<e4m3> history;                          // {.window = 1024, .margin = 0}
//   auto q = quantize<e4m3, per_tensor>(x, static_scale(history.scale()));
//   history.observe(x);                                           // after use: the scale of the next step
//
// After each step, with a = the maximum of the window or its newest amax:
//   inverse = fl(fl(MAX / a) / 2^margin), scale = fl(1 / inverse)
// An a of 0, infinity or NaN keeps the old scale (a bad amax is recorded, so a maximum keeps it as long as the
// window is). An infinite inverse becomes the largest float (TransformerEngine) or stays (flax: scale 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/observer/min_max.hpp>
#include <ofp8/ops/observer/observe_blocks.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/tensor/matrix.hpp>

namespace ofp8 {

enum class amax_choice : std::uint8_t {
  max,         ///< the largest of the window
  most_recent  ///< the newest
};

struct amax_history_options {
  std::ptrdiff_t window = 1024;  ///< steps, at least 1
  amax_choice choose = amax_choice::max;
  int margin = 0;  ///< -64 .. 64: the scale is 2^margin times what the amax asks for
  infinite_inverse_rule on_infinite_inverse = infinite_inverse_rule::largest_of_input_type;  ///< of float
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN

/// What an amax_history_observer knows, to be saved and loaded.
struct amax_history_state {
  amax_history_options options;
  matrix<float> history;  ///< 1 x window amaxes, the newest first, 0 where there was none yet
  float scale = 1.0f;     ///< for the next tensor: the dequantization multiplier
  float inverse = 1.0f;   ///< what TransformerEngine multiplies elements with
  observed_counts counts;
};

/// The delayed scale of one tensor in codes E.
template <fp8_type E>
class amax_history_observer {
 public:
  /// Throws argument_error for a window below 1 or a margin outside -64 .. 64.
  explicit amax_history_observer(const amax_history_options& options = {})
      : amax_history_observer(amax_history_state{options, empty_history(options), 1.0f, 1.0f, {}}) {}
  explicit amax_history_observer(amax_history_state state) : state_(std::move(state)) {
    check(state_.options);
    if (state_.history.rows() != 1 || state_.history.cols() != window()) refuse_history();
  }

  /// The scale for the next tensor; 1 before anything useful was observed.
  float scale() const noexcept { return state_.scale; }
  float inverse() const noexcept { return state_.inverse; }

  /// Records the amax of x (NaN where x has a NaN, infinite where it has an infinity) and updates the scale.
  template <detail::wide_matrix X>
  void observe(const X& x, const execution& where = {}) {
    observed_counts counts;
    const matrix<value_range> range = impl::ranges_of<per_tensor>(x, counts, where);
    state_.counts += counts;
    record(counts.nan > 0        ? detail::float_from_bits(detail::float_quiet_nan)
           : counts.infinite > 0 ? detail::float_from_bits(detail::float_infinity)
                                 : impl::amax_of(range(0, 0)));
  }

  /// The same for an amax that something else computed.
  void record(float amax) {
    float* newest = state_.history.data();
    std::memmove(newest + 1, newest, static_cast<std::size_t>(window() - 1) * sizeof(float));
    *newest = detail::float_from_bits(detail::magnitude_bits(amax));
    update();
  }

  /// The maximum of the two histories, age by age, as TransformerEngine reduces over its ranks: associative and
  /// in any order as to the history, and as to the scale wherever the chosen amax is good (else this one's
  /// stays). Throws argument_error when the options differ.
  void merge(const amax_history_observer& other) {
    check_mergeable(other.state_.options);
    for (std::ptrdiff_t i = 0; i < window(); ++i)
      if (detail::bits_of(other.state_.history(0, i)) > detail::bits_of(state_.history(0, i)))
        state_.history(0, i) = other.state_.history(0, i);
    state_.counts += other.state_.counts;
    update();
  }

  const observed_counts& counts() const noexcept { return state_.counts; }
  const amax_history_state& state() const noexcept { return state_; }

 private:
  std::ptrdiff_t window() const noexcept { return state_.options.window; }

  // Magnitudes are ordered like their bits, a NaN above all.
  std::uint32_t chosen_amax() const noexcept {
    std::uint32_t amax = detail::bits_of(state_.history(0, 0));
    if (state_.options.choose == amax_choice::most_recent) return amax;
    for (std::ptrdiff_t i = 1; i < window(); ++i) {
      const std::uint32_t bits = detail::bits_of(state_.history(0, i));
      if (bits > amax) amax = bits;
    }
    return amax;
  }

  void update() noexcept {
    const detail::fp_environment_guard guard;
    const std::uint32_t amax = chosen_amax();
    if (amax == 0 || amax >= detail::float_infinity) return;
    constexpr float max = detail::code_range_of<E>().max;
    float inverse = (max / detail::float_from_bits(amax)) / detail::power_of_two(state_.options.margin);
    if (detail::bits_of(inverse) == 0) return;  // a margin beyond the floats: 1 / 0 is no scale
    if (detail::bits_of(inverse) == detail::float_infinity &&
        state_.options.on_infinite_inverse == infinite_inverse_rule::largest_of_input_type)
      inverse = detail::float_from_bits(detail::float_infinity - 1);
    state_.inverse = inverse;
    state_.scale = 1.0f / inverse;
  }

  static void check(const amax_history_options& o) {
    if (o.window < 1)
      impl::refuse_option("amax_history_observer", "window", static_cast<double>(o.window), "at least 1");
    if (o.margin < -64 || o.margin > 64)
      impl::refuse_option("amax_history_observer", "margin", o.margin, "-64 .. 64");
  }
  static matrix<float> empty_history(const amax_history_options& o) {
    check(o);
    return matrix<float>(1, o.window);
  }
  void check_mergeable(const amax_history_options& o) const {
    constexpr const char* function = "amax_history_observer::merge";
    const amax_history_options& mine = state_.options;
    if (mine.window != o.window)
      impl::refuse_merge(function, "window", static_cast<double>(mine.window), static_cast<double>(o.window));
    if (mine.margin != o.margin) impl::refuse_merge(function, "margin", mine.margin, o.margin);
    if (mine.choose != o.choose)
      impl::refuse_merge(function, "choose", static_cast<int>(mine.choose), static_cast<int>(o.choose));
    if (mine.on_infinite_inverse != o.on_infinite_inverse)
      impl::refuse_merge(function, "on_infinite_inverse", static_cast<int>(mine.on_infinite_inverse),
                         static_cast<int>(o.on_infinite_inverse));
  }
  [[noreturn]] OFP8_COLD void refuse_history() const {
    detail::message m;
    m << "amax_history_observer: the history is "
      << detail::extent{state_.history.rows(), state_.history.cols()} << ", the window needs "
      << detail::extent{1, window()};
    detail::fail<shape_error>(m);
  }

  amax_history_state state_;
};

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
