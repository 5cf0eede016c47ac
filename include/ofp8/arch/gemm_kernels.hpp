// SPDX-License-Identifier: Apache-2.0
// ofp8: the contract between the GEMM and the instruction sets. One backend fills `gemm_kernels` per weight
// format: a packer and a multiply; blocking, scales, epilogue and threads are shared. Activations arrive
// decoded to rows of float (or bf16 pairs, where a backend asks for them), so mixed formats need no
// instances.
//
// Packed weights, layout version 1: panels of 32 columns (rows n of B), each contiguous over K. A 64-byte
// group holds two k of the 32 columns in the order in which byte shuffles decode to bf16 pairs:
//
//   byte[16 * (c / 4) + 8 * half + 2 * (c % 4) + (1 - k % 2)]  =  code of column half * 16 + c at k,   c < 16
//
// Columns beyond N and the k beyond an odd K hold the code of +0. One layout serves every x86 kernel: an FMA
// kernel reads the even slot by a shift and the odd one by a mask, vdpbf16ps the pair as it stands, both in
// increasing k.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/config.hpp>
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

/// Rows of A times panels of B: tile[m][n] over all of K, cut in segments, in increasing k.
struct panel_task {
  const float* a;  ///< row m at a + m * a_stride; k floats
  std::ptrdiff_t a_stride;
  std::ptrdiff_t rows;
  const std::byte* b;       ///< panel p at b + p * b_stride
  std::ptrdiff_t b_stride;  ///< bytes
  std::ptrdiff_t panels;
  const std::ptrdiff_t*
      cuts;  ///< segments + 1 increasing positions from 0 to K; each segment has at least one k
  std::ptrdiff_t segments;  ///< at least 1
  const float* a_scales;    ///< [segments][a_scales_stride >= rows]
  std::ptrdiff_t a_scales_stride;
  const float* b_scales;  ///< [segments][b_scales_stride >= panels * 32]; columns beyond N hold any number
  std::ptrdiff_t b_scales_stride;
  combine_rule combine;
  bool exact_products;  ///< every a * b is a float: multiply-then-add is the fma (FP8 and fp16 activations)
  float* tile;          ///< row m at tile + m * tile_stride; panels * 32 floats
  std::ptrdiff_t tile_stride;
  float* scratch;  ///< scratch_floats of the backend
};

template <fp8_type E>
struct gemm_kernels {
  /// Packs `columns` (1..32) rows of B, each k codes, `ldb` codes apart, into one panel of panel_bytes(k).
  void (*pack_panel)(const E* b, std::ptrdiff_t ldb, std::ptrdiff_t columns, std::ptrdiff_t k,
                     std::byte* panel) noexcept;
  /// The inverse: writes `columns` rows of k codes.
  void (*unpack_panel)(const std::byte* panel, std::ptrdiff_t columns, std::ptrdiff_t k, E* b,
                       std::ptrdiff_t ldb) noexcept;
  /// acc = fma(a, b, acc) from +0 in increasing k per segment, alpha = a_scale * b_scale (one FP32 product),
  /// then `combine`. NaN results may have any sign and payload here; the epilogue makes them canonical.
  void (*multiply)(const panel_task& task) noexcept;
  std::ptrdiff_t scratch_floats;  ///< that multiply needs, whatever the shape
  std::ptrdiff_t rows_at_once;    ///< row blocks are multiples of this where M allows
};

}  // namespace ofp8
