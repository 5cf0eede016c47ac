// SPDX-License-Identifier: Apache-2.0
// ofp8: which elements share a scale. One geometry, scale_block<Rows, Cols, Scale>: a block of Rows x Cols
// elements has one scale; `whole` is all of a dimension. Grids are ceil-divided, so ragged edges are normal.
//
//   per_tensor  per_channel = per_token  per_group<128>  block_wise<128, 128>  mx<32>
//   scale_block<128, 128, bf16>                               // bf16 scales, as some checkpoints store them
//   block_wise<128, 128>::scale_rows(300)                     // 3 rows of scales
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float16.hpp>

namespace ofp8 {

/// As a block extent: all of the dimension.
inline constexpr std::ptrdiff_t whole = 0;

/// What a scale may be stored as.
template <class T>
concept scale_type = std::same_as<T, float> || std::same_as<T, e8m0> || fp16_type<T>;

/// One scale for each block of Rows x Cols elements. The grid of a rows x cols matrix is scale_rows(rows) x
/// scale_cols(cols): the quotients rounded up. A `whole` extent is one block, even over 0.
template <std::ptrdiff_t Rows, std::ptrdiff_t Cols, ofp8::scale_type Scale = float>
struct scale_block {
  static_assert(Rows >= 0 && Cols >= 0, "a block extent is positive, or `whole`");
  static constexpr std::ptrdiff_t rows = Rows;  ///< of a block; `whole` is 0
  static constexpr std::ptrdiff_t cols = Cols;  ///< of a block; `whole` is 0
  using scale_type = Scale;

  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t scale_rows(std::ptrdiff_t matrix_rows) noexcept {
    return blocks(matrix_rows, Rows);
  }
  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t scale_cols(std::ptrdiff_t matrix_cols) noexcept {
    return blocks(matrix_cols, Cols);
  }
  /// Grid row of the scale of matrix row `row`.
  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t scale_row(std::ptrdiff_t row) noexcept {
    return Rows == whole ? 0 : row / (Rows == whole ? 1 : Rows);
  }
  /// Grid column of the scale of matrix column `col`.
  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t scale_col(std::ptrdiff_t col) noexcept {
    return Cols == whole ? 0 : col / (Cols == whole ? 1 : Cols);
  }

 private:
  OFP8_INLINE_MEMBER static constexpr std::ptrdiff_t blocks(std::ptrdiff_t extent,
                                                            std::ptrdiff_t block) noexcept {
    return block == whole ? 1 : extent / block + (extent % block != 0 ? 1 : 0);
  }
};

using per_tensor = scale_block<whole, whole>;  ///< one scale
using per_channel = scale_block<1, whole>;     ///< one a row of the weight, that is, an output channel
using per_token = per_channel;                 ///< one a row of the activations: the same geometry
template <std::ptrdiff_t Group>
using per_group = scale_block<1, Group>;  ///< one for each `Group` consecutive elements of a row
template <std::ptrdiff_t Rows, std::ptrdiff_t Cols>
using block_wise = scale_block<Rows, Cols>;
template <std::ptrdiff_t Group = 32>
using mx = scale_block<1, Group, e8m0>;  ///< OCP microscaling: power-of-two scales

namespace detail {
template <class G>
inline constexpr bool is_scale_block = false;
template <std::ptrdiff_t Rows, std::ptrdiff_t Cols, class Scale>
inline constexpr bool is_scale_block<scale_block<Rows, Cols, Scale>> = true;
}  // namespace detail

/// Any scale_block.
template <class G>
concept granularity = detail::is_scale_block<G>;

/// Whether a row has one scale for all of its columns (K in a GEMM), so that the sum over K can be scaled
/// once.
template <granularity G>
inline constexpr bool constant_along_k = G::cols == whole;

}  // namespace ofp8
