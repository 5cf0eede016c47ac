// SPDX-License-Identifier: Apache-2.0
// ofp8: what every observer shares: the walk over the blocks of a matrix, on one thread or several, the count
// of what is no number, and the way from an amax to a scale. No result depends on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/split.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

/// What an observer has seen. NaN and infinity are found by their bits, counted, and left out of every range.
struct observed_counts {
  std::int64_t elements = 0;  ///< all of them
  std::int64_t nan = 0;
  std::int64_t infinite = 0;

  OFP8_INLINE_MEMBER constexpr observed_counts& operator+=(const observed_counts& other) noexcept {
    elements += other.elements;
    nan += other.nan;
    infinite += other.infinite;
    return *this;
  }
  OFP8_INLINE_MEMBER friend constexpr bool operator==(const observed_counts& a,
                                                      const observed_counts& b) noexcept {
    return a.elements == b.elements && a.nan == b.nan && a.infinite == b.infinite;
  }
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_nothing_observed(const char* function) {
  detail::message m;
  m << function << ": 0 elements were observed, a scale needs at least 1";
  detail::fail<argument_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_block_grid(const char* function, detail::extent now,
                                                     detail::extent before) {
  detail::message m;
  m << function << ": the blocks of x are " << now << ", those observed before are " << before
    << ": grids differ";
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_option(const char* function, const char* option, double value,
                                                 const char* allowed) {
  detail::message m;
  m << function << ": " << option << " is " << value << ": it must be " << allowed;
  detail::fail<argument_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_merge(const char* function, const char* option, double mine,
                                                double other) {
  detail::message m;
  m << function << ": " << option << " is " << mine << ", the other's is " << other << ": options differ";
  detail::fail<argument_error>(m);
}

/// The first matrix decides the grid of blocks (an empty grid takes any); the others have the same.
inline void check_block_grid(const char* function, detail::extent now, detail::extent before, bool empty) {
  if (!empty && (now.rows != before.rows || now.cols != before.cols))
    refuse_block_grid(function, now, before);
}

// Each task has a slot of its own, merged in order afterwards.
inline constexpr std::ptrdiff_t most_observer_tasks = 64;

/// Some rows of one strip. A block owns `cells.per_block` consecutive cells of `strip`.
template <class Cells, class In>
inline void observe_rows(const Cells& cells, const detail::block_geometry& g, matrix_view<const In> x,
                         detail::index_range rows, typename Cells::cell* strip,
                         observed_counts& counts) noexcept {
  for (std::ptrdiff_t r = rows.first; r < rows.last; ++r) {
    for (std::ptrdiff_t j = 0; j < g.grid_cols; ++j) {
      const detail::index_range columns = g.columns_of_blocks({j, j + 1});
      cells.add(x.row(r) + columns.first, columns.size(), strip + j * cells.per_block, counts);
    }
    counts.elements += g.cols;
  }
}

template <class Cells, class In>
inline void observe_strips(const Cells& cells, const detail::block_geometry& g, matrix_view<const In> x,
                           typename Cells::cell* grid, observed_counts* found, const execution& where) {
  const std::ptrdiff_t strip_cells = g.grid_cols * cells.per_block;
  const std::ptrdiff_t strip_elements = detail::at_most(g.block_rows, g.rows) * g.cols;
  const std::ptrdiff_t tasks = task_count(where, g.grid_rows, strip_elements, most_observer_tasks);
  for_each_part(where, g.grid_rows, tasks,
                [&](std::ptrdiff_t task, std::ptrdiff_t first, std::ptrdiff_t last) {
                  for (std::ptrdiff_t i = first; i < last; ++i)
                    observe_rows(cells, g, x, g.rows_of_strip(i), grid + i * strip_cells, found[task]);
                });
}

/// One strip by several tasks, the first in place, the others in cells of their own.
template <class Cells, class In>
inline void observe_one_strip(const Cells& cells, const detail::block_geometry& g, matrix_view<const In> x,
                              typename Cells::cell* strip, observed_counts* found, const execution& where) {
  const std::ptrdiff_t strip_cells = g.grid_cols * cells.per_block;
  const auto threads = static_cast<std::ptrdiff_t>(where.executor.concurrency());
  const std::ptrdiff_t tasks =
      task_count(where, g.rows, g.cols, detail::at_most(threads, most_observer_tasks));
  matrix<typename Cells::cell> others(tasks - 1, strip_cells);
  cells.clear(others.data(), (tasks - 1) * strip_cells);
  for_each_part(where, g.rows, tasks, [&](std::ptrdiff_t task, std::ptrdiff_t first, std::ptrdiff_t last) {
    observe_rows(cells, g, x, {first, last}, task == 0 ? strip : others.row(task - 1), found[task]);
  });
  for (std::ptrdiff_t task = 1; task < tasks; ++task) cells.merge(strip, others.row(task - 1), strip_cells);
}

/// Adds every element of x to the cells of its block.
template <class Cells, class In>
inline void observe_blocks(const Cells& cells, const detail::block_geometry& g, matrix_view<const In> x,
                           typename Cells::cell* grid, observed_counts& counts, const execution& where) {
  observed_counts found[most_observer_tasks];
  if (g.grid_rows > 1) {
    observe_strips(cells, g, x, grid, found, where);
  } else {
    observe_one_strip(cells, g, x, grid, found, where);
  }
  for (const observed_counts& slot : found) counts += slot;
}

/// The scales of blocks from what stands for their amax, by a recipe.
template <class E, granularity G>
inline matrix<float> scales_from_amax(const char* function, const matrix<float>& amax,
                                      const observed_counts& counts, const recipe& how) {
  if (counts.elements == 0) refuse_nothing_observed(function);
  const detail::fp_environment_guard guard;
  matrix<float> scales(amax.rows(), amax.cols());
  for (std::ptrdiff_t i = 0; i < amax.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < amax.cols(); ++j)
      scales(i, j) = scale_step_for<E, typename G::scale_type>(how, amax(i, j)).scale;
  return scales;
}

}  // namespace impl
OFP8_ALGORITHMS_END

namespace detail {
template <class G>
concept one_block = granularity<G> && G::rows == whole&& G::cols == whole;
}  // namespace detail
}  // namespace ofp8
OFP8_STRICT_FP_END
