// SPDX-License-Identifier: Apache-2.0
// ofp8: how quantize and dequantize walk over the blocks of a matrix, with the granularity as run-time
// numbers (one copy of the loops for all granularities). A strip is one row of blocks; it is worked on in
// windows of up to `window` blocks, whose scales stand on the stack: nothing is allocated.
#pragma once

#include <cstddef>

#include <ofp8/core/config.hpp>
#include <ofp8/scale/granularity.hpp>

namespace ofp8::detail {

/// Positions [first, last).
struct index_range {
  std::ptrdiff_t first, last;
  OFP8_INLINE_MEMBER constexpr std::ptrdiff_t size() const noexcept { return last - first; }
};

OFP8_INLINE constexpr std::ptrdiff_t at_most(std::ptrdiff_t x, std::ptrdiff_t limit) noexcept {
  return x < limit ? x : limit;
}

/// The blocks of a rows x cols matrix.
struct block_geometry {
  std::ptrdiff_t rows, cols;
  std::ptrdiff_t block_rows, block_cols;  ///< at least 1, also where `whole` of nothing is meant
  std::ptrdiff_t grid_rows, grid_cols;

  static constexpr std::ptrdiff_t window = 256;  ///< blocks

  OFP8_INLINE_MEMBER constexpr index_range rows_of_strip(std::ptrdiff_t i) const noexcept {
    return {i * block_rows, at_most((i + 1) * block_rows, rows)};
  }
  OFP8_INLINE_MEMBER constexpr index_range columns_of_blocks(index_range blocks) const noexcept {
    return {blocks.first * block_cols, at_most(blocks.last * block_cols, cols)};
  }
  /// The blocks of a strip from block `first` on, at most a window of them.
  OFP8_INLINE_MEMBER constexpr index_range window_from(std::ptrdiff_t first) const noexcept {
    return {first, at_most(first + window, grid_cols)};
  }
};

template <granularity G>
OFP8_INLINE constexpr block_geometry geometry_of(std::ptrdiff_t rows, std::ptrdiff_t cols) noexcept {
  const auto extent = [](std::ptrdiff_t block, std::ptrdiff_t all) {
    const std::ptrdiff_t size = block == whole || block > all ? all : block;
    return size > 0 ? size : 1;
  };
  return {rows, cols, extent(G::rows, rows), extent(G::cols, cols), G::scale_rows(rows), G::scale_cols(cols)};
}

}  // namespace ofp8::detail
