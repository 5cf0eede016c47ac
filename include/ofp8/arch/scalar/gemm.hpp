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
#include <ofp8/arch/scalar/fma.hpp>
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

// `k` codes of one column to its place in the groups from `out` on.
template <fp8_type E>
OFP8_INLINE void pack_column(const E* codes, std::ptrdiff_t k, std::byte* out) noexcept {
  constexpr std::ptrdiff_t first = packed_layout::byte_in_group(0, 0),
                           second = packed_layout::byte_in_group(0, 1);
  const std::ptrdiff_t groups = k / packed_layout::k_of_group;
  for (std::ptrdiff_t g = 0; g < groups; ++g) {
    out[g * packed_layout::group_bytes + first] = std::byte{codes[2 * g].code};
    out[g * packed_layout::group_bytes + second] = std::byte{codes[2 * g + 1].code};
  }
  if (k % packed_layout::k_of_group != 0) {
    out[groups * packed_layout::group_bytes + first] = std::byte{codes[k - 1].code};
    out[groups * packed_layout::group_bytes + second] = std::byte{};
  }
}

// A cache line of each row at a time: the part of the panel that it goes to, 2 KiB, stays in L1.
template <fp8_type E>
inline void pack_panel(const E* b, std::ptrdiff_t ldb, std::ptrdiff_t used, std::ptrdiff_t k,
                       std::byte* panel) noexcept {
  constexpr std::ptrdiff_t line = 64;
  constexpr E zeros[line] = {};
  for (std::ptrdiff_t begin = 0; begin < k; begin += line) {
    const std::ptrdiff_t size = k - begin < line ? k - begin : line;
    std::byte* out = panel + begin / packed_layout::k_of_group * packed_layout::group_bytes;
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      const E* codes = c < used ? b + c * ldb + begin : zeros;
      std::byte* place = out + packed_layout::byte_in_group(c, 1);
      if (size == line)
        pack_column(codes, line, place);
      else
        pack_column(codes, size, place);
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

// values[i][c] = the weight of column c at k = begin + i. Eight bytes of a slot hold four columns.
inline void decode_piece(const std::byte* panel, std::ptrdiff_t begin, std::ptrdiff_t end, const float* table,
                         float* __restrict values) noexcept {
  constexpr std::ptrdiff_t four = packed_layout::byte_in_group(4, 0) - packed_layout::byte_in_group(0, 0);
  constexpr std::ptrdiff_t next = packed_layout::byte_in_group(1, 0) - packed_layout::byte_in_group(0, 0);
  constexpr std::ptrdiff_t half = packed_layout::byte_in_group(16, 0) - packed_layout::byte_in_group(0, 0);
  for (std::ptrdiff_t k = begin; k < end; ++k) {
    const std::byte* slot = panel + k / packed_layout::k_of_group * packed_layout::group_bytes +
                            packed_layout::byte_in_group(0, k);
    for (std::ptrdiff_t i = 0; i < columns / 4; ++i) {
      const std::byte* code = slot + i / 4 * half + i % 4 * four;
      float* __restrict out = values + (k - begin) * columns + i * 4;
      out[0] = table[static_cast<std::uint8_t>(code[0])];
      out[1] = table[static_cast<std::uint8_t>(code[next])];
      out[2] = table[static_cast<std::uint8_t>(code[2 * next])];
      out[3] = table[static_cast<std::uint8_t>(code[3 * next])];
    }
  }
}

template <bool Exact>
OFP8_INLINE float add_product(float acc, float a, float b) noexcept {
  return Exact ? acc + a * b : fma(a, b, acc);
}

// Where an fma is many operations there are no registers left for sums, and they would keep compilers from
// vectorizing.
OFP8_NOINLINE inline void add_row_in_memory(const float* a, const float* __restrict values, std::ptrdiff_t k,
                                            float* __restrict sums) noexcept {
  for (std::ptrdiff_t i = 0; i < k; ++i) {
    const float x = a[i];
    for (std::ptrdiff_t c = 0; c < columns; ++c) sums[c] = fma(x, values[i * columns + c], sums[c]);
  }
}

// The sums of a row (of two rows: each weight is loaded once for both) continue over a piece. They are local
// arrays of constant size, so that they stay in registers.
template <bool Exact>
OFP8_NOINLINE inline void add_row(const float* a, const float* __restrict values, std::ptrdiff_t k,
                                  float* __restrict sums) noexcept {
  float acc[columns];
  for (std::ptrdiff_t c = 0; c < columns; ++c) acc[c] = sums[c];
  for (std::ptrdiff_t i = 0; i < k; ++i) {
    const float x = a[i];
    for (std::ptrdiff_t c = 0; c < columns; ++c)
      acc[c] = add_product<Exact>(acc[c], x, values[i * columns + c]);
  }
  for (std::ptrdiff_t c = 0; c < columns; ++c) sums[c] = acc[c];
}
template <bool Exact>
OFP8_NOINLINE inline void add_two_rows(const float* a, std::ptrdiff_t stride, const float* __restrict values,
                                       std::ptrdiff_t k, float* __restrict sums) noexcept {
  float first[columns], second[columns];
  for (std::ptrdiff_t c = 0; c < columns; ++c) first[c] = sums[c];
  for (std::ptrdiff_t c = 0; c < columns; ++c) second[c] = sums[columns + c];
  for (std::ptrdiff_t i = 0; i < k; ++i) {
    const float x = a[i], y = a[stride + i];
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      first[c] = add_product<Exact>(first[c], x, values[i * columns + c]);
      second[c] = add_product<Exact>(second[c], y, values[i * columns + c]);
    }
  }
  for (std::ptrdiff_t c = 0; c < columns; ++c) sums[c] = first[c];
  for (std::ptrdiff_t c = 0; c < columns; ++c) sums[columns + c] = second[c];
}

template <bool Exact>
inline void add_rows(const panel_task<float>& task, std::ptrdiff_t begin, std::ptrdiff_t k,
                     const float* values, float* sums) noexcept {
  const float* a = task.a + begin;
  const std::ptrdiff_t stride = task.a_stride;
  if constexpr (!Exact && !has_fma) {
    for (std::ptrdiff_t m = 0; m < task.rows; ++m)
      add_row_in_memory(a + m * stride, values, k, sums + m * columns);
  } else {
    std::ptrdiff_t m = 0;
    for (; m + 2 <= task.rows; m += 2)
      add_two_rows<Exact>(a + m * stride, stride, values, k, sums + m * columns);
    if (m < task.rows) add_row<Exact>(a + m * stride, values, k, sums + m * columns);
  }
}

inline void combine(combine_rule rule, const float* sums, float a_scale, const float* b_scales,
                    float* tile) noexcept {
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    const float alpha = a_scale * b_scales[c];
    tile[c] = rule == combine_rule::scale ? sums[c] * alpha : fma(sums[c], alpha, tile[c]);
  }
}

// The sums of one segment over one panel: sums[m][c].
inline void sum_segment(const panel_task<float>& task, const std::byte* panel, std::ptrdiff_t begin,
                        std::ptrdiff_t end, const float* table, float* values, float* sums) noexcept {
  for (std::ptrdiff_t i = 0; i < task.rows * columns; ++i) sums[i] = 0.0f;
  for (std::ptrdiff_t k = begin; k < end; k += piece) {
    const std::ptrdiff_t size = end - k < piece ? end - k : piece;
    decode_piece(panel, k, k + size, table, values);
    if (task.exact_products)
      add_rows<true>(task, k, size, values, sums);
    else
      add_rows<false>(task, k, size, values, sums);
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
  return {.rows_at_once = 2,
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
