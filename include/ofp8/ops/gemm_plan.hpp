// SPDX-License-Identifier: Apache-2.0
// ofp8: how a GEMM is cut into work, and the memory that takes. Items are a block of rows by a range of panels
// (m and n only, never k); as many tasks as the executor runs at once take items from a common counter, so the
// memory is one slot per task. No result depends on the cut.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/scale/granularity.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

OFP8_INLINE std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) noexcept { return a < b ? a : b; }
OFP8_INLINE std::ptrdiff_t larger(std::ptrdiff_t a, std::ptrdiff_t b) noexcept { return a < b ? b : a; }
OFP8_INLINE std::ptrdiff_t ceil_div(std::ptrdiff_t a, std::ptrdiff_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}
OFP8_INLINE std::ptrdiff_t round_up(std::ptrdiff_t a, std::ptrdiff_t b) noexcept {
  return ceil_div(a, b) * b;
}

/// Where part i of `parts` nearly equal parts of [0, n) begins.
OFP8_INLINE std::ptrdiff_t part_begin(std::ptrdiff_t n, std::ptrdiff_t parts, std::ptrdiff_t i) noexcept {
  const std::ptrdiff_t size = n / parts, longer = n % parts;
  return i * size + smaller(i, longer);
}

/// The end of the segment of K that begins at `k`: the next boundary of either operand's grid.
OFP8_INLINE std::ptrdiff_t segment_end(std::ptrdiff_t k, std::ptrdiff_t depth, std::ptrdiff_t a_block,
                                       std::ptrdiff_t b_block) noexcept {
  std::ptrdiff_t end = depth;
  for (const std::ptrdiff_t block : {a_block, b_block})
    if (block != whole && block - k % block < end - k) end = k + (block - k % block);
  return end;
}

/// Number of segments, or, with `cuts`, their positions, too: segments + 1 of them.
inline std::ptrdiff_t cut_segments(std::ptrdiff_t depth, std::ptrdiff_t a_block, std::ptrdiff_t b_block,
                                   std::ptrdiff_t* cuts) noexcept {
  std::ptrdiff_t count = 0;
  for (std::ptrdiff_t k = 0; k < depth; ++count) {
    if (cuts != nullptr) cuts[count] = k;
    k = segment_end(k, depth, a_block, b_block);
  }
  if (cuts != nullptr) cuts[count] = depth;
  return count;
}

/// Bytes, each part a multiple of 64.
struct gemm_memory {
  static constexpr std::ptrdiff_t alignment = 64;

  std::ptrdiff_t cuts;                                            // common to all tasks
  std::ptrdiff_t rows, a_scales, b_scales, tile, panels, kernel;  // of each task
  std::ptrdiff_t tasks;

  std::ptrdiff_t task_bytes() const noexcept { return rows + a_scales + b_scales + tile + panels + kernel; }
  /// With what it takes to align the caller's bytes.
  std::ptrdiff_t bytes() const noexcept { return cuts + tasks * task_bytes() + alignment; }
};

struct gemm_plan {
  std::ptrdiff_t segments;
  std::ptrdiff_t row_blocks;  // nearly equal, multiples of rows_at_once but for the last
  std::ptrdiff_t ranges;      // of panels, nearly equal, for each block of rows
  std::ptrdiff_t tile_rows;   // rows_at_once
  std::ptrdiff_t a_stride;    // floats
  gemm_blocking blocking;     // rows: of the longest block
  gemm_memory memory;
};

// A row of A is at least a cache line longer than K, so that rows do not fall in the same cache sets.
OFP8_INLINE std::ptrdiff_t row_stride(std::ptrdiff_t k) noexcept { return round_up(k, 16) + 16; }

// Blocks of rows take at most this much memory, unless rows_at_once rows alone take more: huge K.
inline constexpr std::ptrdiff_t row_block_bytes = std::ptrdiff_t{16} << 20;

inline std::ptrdiff_t rows_that_fit(const gemm_blocking& blocking, std::ptrdiff_t k) noexcept {
  const std::ptrdiff_t row_bytes = row_stride(k) * static_cast<std::ptrdiff_t>(sizeof(float));
  const std::ptrdiff_t fit = row_block_bytes / row_bytes / blocking.rows_at_once * blocking.rows_at_once;
  return smaller(blocking.rows, larger(fit, blocking.rows_at_once));
}

/// Memory for up to `concurrency` tasks. It does not decrease when a size or the concurrency grows.
inline gemm_memory gemm_memory_for(const gemm_shape& shape, std::ptrdiff_t segments,
                                   const gemm_blocking& blocking, bool packed,
                                   std::ptrdiff_t concurrency) noexcept {
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(float));
  constexpr std::ptrdiff_t align = gemm_memory::alignment;
  const std::ptrdiff_t panels = packed_layout::panels(shape.n);
  const std::ptrdiff_t rows = smaller(shape.m, blocking.rows);
  const std::ptrdiff_t width = smaller(panels, blocking.panels) * packed_layout::columns;
  const std::ptrdiff_t row_bytes = row_stride(shape.k) * size;
  const std::ptrdiff_t block_bytes =
      larger(row_block_bytes, smaller(rows, blocking.rows_at_once) * row_bytes);
  const std::ptrdiff_t items = ceil_div(shape.m, blocking.rows_at_once) * panels;
  return {.cuts = round_up((segments + 1) * static_cast<std::ptrdiff_t>(sizeof(std::ptrdiff_t)), align),
          .rows = smaller(rows * row_bytes, round_up(block_bytes, align)),
          .a_scales = segments * round_up(rows * size, align),
          .b_scales = segments * width * size,
          .tile = rows * width * size,
          .panels = packed ? 0 : smaller(panels, blocking.panels) * packed_layout::panel_bytes(shape.k),
          .kernel = round_up(blocking.scratch_floats * size, align),
          .tasks = smaller(items, concurrency)};
}

/// How many items to aim at: some for each task, so that a late one costs little, but none that is not worth it.
inline std::ptrdiff_t items_wanted(const gemm_shape& shape, std::ptrdiff_t concurrency,
                                   std::ptrdiff_t products_of_item) noexcept {
  constexpr std::ptrdiff_t items_of_task = 4;
  if (concurrency == 1) return 1;
  const double products =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const double worth = products / static_cast<double>(products_of_item);
  const std::ptrdiff_t most = items_of_task * concurrency;
  return worth >= static_cast<double>(most) ? most : larger(static_cast<std::ptrdiff_t>(worth), 1);
}

/// The cut of an m x n x k product with m, n > 0.
inline gemm_plan plan_gemm(const gemm_shape& shape, std::ptrdiff_t segments, gemm_blocking blocking,
                           bool packed, std::ptrdiff_t concurrency) noexcept {
  const gemm_memory memory = gemm_memory_for(shape, segments, blocking, packed, concurrency);
  const std::ptrdiff_t wanted = items_wanted(shape, concurrency, blocking.products);
  const std::ptrdiff_t panels = packed_layout::panels(shape.n);
  const std::ptrdiff_t tiles = ceil_div(shape.m, blocking.rows_at_once);
  const std::ptrdiff_t tiles_that_fit = rows_that_fit(blocking, shape.k) / blocking.rows_at_once;

  // Rows are cut where a block must fit, and finer only where there are too few panels to share.
  const std::ptrdiff_t row_blocks =
      larger(ceil_div(tiles, tiles_that_fit), smaller(tiles, ceil_div(wanted, panels)));
  const std::ptrdiff_t ranges = smaller(panels, ceil_div(wanted, row_blocks));
  blocking.rows = smaller(shape.m, ceil_div(tiles, row_blocks) * blocking.rows_at_once);
  blocking.panels = smaller(blocking.panels, ceil_div(panels, ranges));

  gemm_plan plan{.segments = segments,
                 .row_blocks = row_blocks,
                 .ranges = ranges,
                 .tile_rows = blocking.rows_at_once,
                 .a_stride = row_stride(shape.k),
                 .blocking = blocking,
                 .memory = memory};
  plan.memory.tasks = smaller(memory.tasks, row_blocks * ranges);
  return plan;
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
