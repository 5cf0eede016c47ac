// SPDX-License-Identifier: Apache-2.0
// ofp8: the contract between the GEMM and the instruction sets. One backend fills `gemm_kernels` per FP8
// format: a packer and a multiply; blocking, scales, epilogue and threads are shared. Activations arrive as
// rows of float, or as rows of bf16 pairs where a backend asks for them, so mixed formats need no instances.
//
// Packed weights, layout version 1: panels of 32 columns (rows n of B), each contiguous over K. A 64-byte
// group holds two k of the 32 columns in the order in which byte shuffles decode to bf16 pairs:
//
//   byte[16 * (c / 4) + 8 * half + 2 * (c % 4) + (1 - k % 2)]  =  code of column half * 16 + c at k,   c < 16
//
// Columns beyond N and the k beyond an odd K hold the code of +0. One layout serves every x86 kernel: an FMA
// kernel reads the even slot by a shift and the odd one by a mask, vdpbf16ps the pair as it stands, both in
// increasing k.
//
// For every kernel: the caller has opened a fp_environment_guard, no byte outside the operands is read or
// written, operands do not overlap. Packed panels, the tile, scales and scratch begin at multiples of 64 bytes,
// and so do rows of the tile and of both scale arrays; rows of A do where `panel_task` says so.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {

/// Sizes and byte order of packed weights.
struct packed_layout {
  static constexpr int version = 1;
  static constexpr std::ptrdiff_t columns = 32;  ///< of a panel
  static constexpr std::ptrdiff_t k_of_group = 2;
  static constexpr std::ptrdiff_t group_bytes = 64;
  static constexpr std::ptrdiff_t alignment = 64;  ///< bytes, of a panel

  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t panels(std::ptrdiff_t n) noexcept {
    return n / columns + (n % columns != 0 ? 1 : 0);
  }
  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t panel_bytes(std::ptrdiff_t k) noexcept {
    return (k / k_of_group + k % k_of_group) * group_bytes;
  }
  /// Offset in a group of the code of `column` (0..31) at k.
  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t byte_in_group(std::ptrdiff_t column,
                                                                   std::ptrdiff_t k) noexcept {
    const std::ptrdiff_t half = column / 16;
    const std::ptrdiff_t c = column % 16;
    return 16 * (c / 4) + 8 * half + 2 * (c % 4) + (1 - k % k_of_group);
  }
};

/// How the sum of a segment enters the tile (numerics: GEMM rules 2 to 4).
enum class combine_rule : std::uint8_t {
  scale,      ///< one segment, nothing in the tile: v = acc * alpha
  scale_add,  ///< one segment, the tile holds t: v = fma(acc, alpha, t)
  promote     ///< v = fma(segment, alpha, v), segment after segment; the tile starts as +0 or t
};

/// Two activations as a dot-product instruction takes them: it adds the odd slot (the upper half of 32 bits)
/// first, so that holds the even k. Behind an odd K the even slot is +0.
struct bf16_pair {
  bf16 even_slot;  ///< k + 1
  bf16 odd_slot;   ///< k
};

/// Rows of A times panels of B: tile[m][n] over all of K, cut in segments, in increasing k. Row is float (one
/// k an element) or bf16_pair (two).
template <class Row>
struct panel_task {
  const Row* a;                ///< row m at a + m * a_stride; K floats or ceil(K / 2) pairs
  std::ptrdiff_t a_stride;     ///< elements; at least one cache line more than a row, a multiple of 64 bytes
  std::ptrdiff_t rows;         ///< 1 .. blocking.rows
  const std::byte* b;          ///< panel p at b + p * b_stride
  std::ptrdiff_t b_stride;     ///< bytes
  std::ptrdiff_t panels;       ///< 1 .. blocking.panels
  const std::ptrdiff_t* cuts;  ///< segments + 1 increasing positions from 0 to K; no segment is empty. For
                               ///< pairs all but the last are even
  std::ptrdiff_t segments;     ///< at least 1
  const float* a_scales;       ///< [segments][a_scales_stride >= rows]
  std::ptrdiff_t a_scales_stride;
  const float* b_scales;  ///< [segments][b_scales_stride >= panels * 32]; columns beyond N hold any number
  std::ptrdiff_t b_scales_stride;
  combine_rule combine;
  bool exact_products;  ///< every a * b is a float: multiply-then-add is the fma (FP8 and fp16 activations).
                        ///< Always so for pairs
  float* tile;          ///< row m at tile + m * tile_stride; panels * 32 floats
  std::ptrdiff_t tile_stride;
  float* scratch;  ///< blocking.scratch_floats
};

/// D of a GEMM is m x n, its sums run over k.
struct gemm_shape {
  std::ptrdiff_t m, n, k;
};

/// What a backend asks of the driver for a shape. `rows`, `panels` and `scratch_floats` do not decrease when m,
/// n or k grows: memory that is enough for a shape is enough for a smaller one.
struct gemm_blocking {
  std::ptrdiff_t rows_at_once;    ///< blocks are multiples of this many rows where M allows
  std::ptrdiff_t rows;            ///< most rows of one multiply, a multiple of rows_at_once
  std::ptrdiff_t panels;          ///< most panels of one multiply
  std::ptrdiff_t scratch_floats;  ///< that one multiply needs
  std::ptrdiff_t products;        ///< that are worth a task of their own: tens of microseconds
};

template <fp8_type E>
struct gemm_kernels {
  template <class Row>
  using multiply_fn = void (*)(const panel_task<Row>& task) noexcept;

  // For weights in format E.

  /// Packs `columns` (1..32) rows of B, each k codes, `ldb` codes apart, into one panel of panel_bytes(k).
  void (*pack_panel)(const E* b, std::ptrdiff_t ldb, std::ptrdiff_t columns, std::ptrdiff_t k,
                     std::byte* panel) noexcept;
  /// The inverse: writes `columns` rows of k codes.
  void (*unpack_panel)(const std::byte* panel, std::ptrdiff_t columns, std::ptrdiff_t k, E* b,
                       std::ptrdiff_t ldb) noexcept;
  /// acc = fma(a, b, acc) from +0 in increasing k per segment, alpha = a_scale * b_scale (one FP32 product),
  /// then `combine`. NaN results may have any sign and payload here; the epilogue makes them canonical.
  multiply_fn<float> multiply;
  /// Pure: the same answer for the same shape.
  gemm_blocking (*blocking)(const gemm_shape& shape) noexcept;

  // For a dot-product instruction (numerics: hardware dot products that keep rule 1); null without one.

  /// The same sums from pairs, for which no product and no sum is subnormal and every product is exact.
  multiply_fn<bf16_pair> multiply_pairs = nullptr;
  /// Activations in format E, k codes, as ceil(k / 2) pairs; exact.
  void (*pair_codes)(const E* codes, std::ptrdiff_t k, bf16_pair* out) noexcept = nullptr;
  /// bf16 activations as they are.
  void (*pair_bf16)(const bf16* x, std::ptrdiff_t k, bf16_pair* out) noexcept = nullptr;
};

}  // namespace ofp8
