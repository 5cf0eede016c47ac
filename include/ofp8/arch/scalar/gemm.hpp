// SPDX-License-Identifier: Apache-2.0
// ofp8: the GEMM kernels of the scalar backend (contract: arch/gemm_kernels.hpp). A panel is decoded to floats
// piece by piece, then each row of A runs over the piece: the inner loop is over the 32 columns, which compilers
// turn into vector code for whatever the file is compiled for. The formats share the loops: a format is a table.
//
//   impl::scalar::gemm<e4m3>.pack_panel(codes, ldb, 32, k, panel);
//   impl::scalar::gemm<e4m3>.multiply(task);
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float8.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::scalar {

inline constexpr std::ptrdiff_t columns = packed_layout::columns;
inline constexpr std::ptrdiff_t piece = 128;    // k of a decoded piece: 16 KiB of floats, half of an L1 cache
inline constexpr std::ptrdiff_t rows_max = 64;  // of A: enough to hide the decoding
inline constexpr std::ptrdiff_t panels_max = 4;  // 32 KiB of tile

template <fp8_type E>
inline void pack_panel(const E* b, std::ptrdiff_t ldb, std::ptrdiff_t used, std::ptrdiff_t k,
                       std::byte* panel) noexcept {
  const std::ptrdiff_t even = k + k % packed_layout::k_of_group;
  for (std::ptrdiff_t i = 0; i < even; ++i) {
    std::byte* group = panel + i / packed_layout::k_of_group * packed_layout::group_bytes;
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const bool real = c < used && i < k;
      group[packed_layout::byte_in_group(c, i)] = real ? std::byte{b[c * ldb + i].code} : std::byte{};
    }
  }
}

template <fp8_type E>
inline void unpack_panel(const std::byte* panel, std::ptrdiff_t used, std::ptrdiff_t k, E* b,
                         std::ptrdiff_t ldb) noexcept {
  for (std::ptrdiff_t i = 0; i < k; ++i) {
    const std::byte* group = panel + i / packed_layout::k_of_group * packed_layout::group_bytes;
    for (std::ptrdiff_t c = 0; c < used; ++c)
      b[c * ldb + i].code = static_cast<std::uint8_t>(group[packed_layout::byte_in_group(c, i)]);
  }
}

// values[i][c] = the weight of column c at k = begin + i.
inline void decode_piece(const std::byte* panel, std::ptrdiff_t begin, std::ptrdiff_t end, const float* table,
                         float* __restrict values) noexcept {
  for (std::ptrdiff_t k = begin; k < end; ++k) {
    const std::byte* group = panel + k / packed_layout::k_of_group * packed_layout::group_bytes;
    const std::byte* slot = group + packed_layout::byte_in_group(0, k);
    float* __restrict row = values + (k - begin) * columns;
    for (std::ptrdiff_t c = 0; c < columns; ++c)
      row[c] = table[static_cast<std::uint8_t>(slot[packed_layout::byte_in_group(c, 1)])];
  }
}

// sums[c] continues over the piece. The sums are a local array of constant size: it stays in registers.
template <bool Exact>
inline void add_products(const float* a, const float* __restrict values, std::ptrdiff_t k,
                         float* __restrict sums) noexcept {
  float acc[columns];
  for (std::ptrdiff_t c = 0; c < columns; ++c) acc[c] = sums[c];
  for (std::ptrdiff_t i = 0; i < k; ++i) {
    const float x = a[i];
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const float w = values[i * columns + c];
      acc[c] = Exact ? acc[c] + x * w : __builtin_fmaf(x, w, acc[c]);
    }
  }
  for (std::ptrdiff_t c = 0; c < columns; ++c) sums[c] = acc[c];
}

inline void combine(combine_rule rule, const float* sums, float a_scale, const float* b_scales,
                    float* tile) noexcept {
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    const float alpha = a_scale * b_scales[c];
    tile[c] = rule == combine_rule::scale ? sums[c] * alpha : __builtin_fmaf(sums[c], alpha, tile[c]);
  }
}

// The sums of one segment over one panel: sums[m][c].
inline void sum_segment(const panel_task<float>& task, const std::byte* panel, std::ptrdiff_t begin,
                        std::ptrdiff_t end, const float* table, float* values, float* sums) noexcept {
  for (std::ptrdiff_t i = 0; i < task.rows * columns; ++i) sums[i] = 0.0f;
  for (std::ptrdiff_t k = begin; k < end; k += piece) {
    const std::ptrdiff_t size = end - k < piece ? end - k : piece;
    decode_piece(panel, k, k + size, table, values);
    for (std::ptrdiff_t m = 0; m < task.rows; ++m) {
      const float* a = task.a + m * task.a_stride + k;
      if (task.exact_products)
        add_products<true>(a, values, size, sums + m * columns);
      else
        add_products<false>(a, values, size, sums + m * columns);
    }
  }
}

inline void multiply_by_table(const panel_task<float>& task, const float* table) noexcept {
  float* values = task.scratch;
  float* sums = task.scratch + piece * columns;
  for (std::ptrdiff_t p = 0; p < task.panels; ++p) {
    for (std::ptrdiff_t s = 0; s < task.segments; ++s) {
      sum_segment(task, task.b + p * task.b_stride, task.cuts[s], task.cuts[s + 1], table, values, sums);
      for (std::ptrdiff_t m = 0; m < task.rows; ++m) {
        combine(task.combine, sums + m * columns, task.a_scales[s * task.a_scales_stride + m],
                task.b_scales + s * task.b_scales_stride + p * columns,
                task.tile + m * task.tile_stride + p * columns);
      }
    }
  }
}

template <fp8_type E>
inline void multiply(const panel_task<float>& task) noexcept {
  multiply_by_table(task, detail::decode_table<typename E::format>.data());
}

inline gemm_blocking blocking(const gemm_shape&) noexcept {
  return {.rows_at_once = 1,
          .rows = rows_max,
          .panels = panels_max,
          .scratch_floats = (piece + rows_max) * columns,
          .products = std::ptrdiff_t{1} << 18};
}

template <fp8_type E>
inline constexpr gemm_kernels<E> gemm{
    .pack_panel = &pack_panel<E>,
    .unpack_panel = &unpack_panel<E>,
    .multiply = &multiply<E>,
    .blocking = &blocking,
};

}  // namespace impl::scalar
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
