// SPDX-License-Identifier: Apache-2.0
// ofp8: rows(v, first, n) and columns(v, first, n), the part of a scaled view that a tensor-parallel rank or
// an expert owns, without a copy. A cut inside a block is refused: the rest of that block would need the same
// scale at a shifted grid.
//
//   auto shard = columns(weight, rank * 1024, 1024);
//   auto expert = rows(stacked, e * n, n);
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_slice(const char* function, std::ptrdiff_t first, std::ptrdiff_t n,
                                                std::ptrdiff_t extent, std::ptrdiff_t block) {
  detail::message m;
  m << function << ": first " << std::int64_t{first} << ", count " << std::int64_t{n} << " of "
    << std::int64_t{extent};
  if (first < 0 || n < 0 || first > extent || n > extent - first) {
    m << ": out of range";
  } else {
    m << ": the cut is inside a block of " << std::int64_t{block};
  }
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

namespace detail {

OFP8_INLINE constexpr bool is_block_edge(std::ptrdiff_t at, std::ptrdiff_t extent,
                                         std::ptrdiff_t block) noexcept {
  return at % block == 0 || at == extent;
}

// A cut is fine at a multiple of the block, at the matrix's end and, for `whole`, anywhere: the part keeps
// the one scale.
OFP8_INLINE constexpr void check_slice(const char* function, std::ptrdiff_t first, std::ptrdiff_t n,
                                       std::ptrdiff_t extent, std::ptrdiff_t block) {
  bool fits = first >= 0 && n >= 0 && first <= extent && n <= extent - first;
  if (fits && block != whole)
    fits = is_block_edge(first, extent, block) && is_block_edge(first + n, extent, block);
  if (!fits) impl::refuse_slice(function, first, n, extent, block);
}

// An empty part has no element to point at: it keeps the pointer of the whole.
OFP8_INLINE constexpr std::ptrdiff_t first_of(std::ptrdiff_t first, std::ptrdiff_t n) noexcept {
  return n == 0 ? 0 : first;
}

}  // namespace detail

/// Rows first .. first + n - 1 and their scales. Throws shape_error when they are out of range or a cut is
/// inside a block.
template <class E, class G>
OFP8_INLINE constexpr scaled_view<E, G> rows(scaled_view<E, G> v, std::ptrdiff_t first, std::ptrdiff_t n) {
  detail::check_slice("rows", first, n, v.rows(), G::rows);
  const auto codes = v.codes();
  const auto grid = v.scales();
  const std::ptrdiff_t at = detail::first_of(first, n);
  return {{codes.row(at), n, codes.cols(), codes.leading_dimension()},
          {grid.data() + G::scale_row(at) * grid.row_stride(), G::scale_rows(n), grid.cols(),
           grid.row_stride(), grid.col_stride()}};
}

/// Columns first .. first + n - 1 and their scales. Throws shape_error when they are out of range or a cut is
/// inside a block.
template <class E, class G>
OFP8_INLINE constexpr scaled_view<E, G> columns(scaled_view<E, G> v, std::ptrdiff_t first, std::ptrdiff_t n) {
  detail::check_slice("columns", first, n, v.cols(), G::cols);
  const auto codes = v.codes();
  const auto grid = v.scales();
  const std::ptrdiff_t at = detail::first_of(first, n);
  return {{codes.data() + at, codes.rows(), n, codes.leading_dimension()},
          {grid.data() + G::scale_col(at) * grid.col_stride(), grid.rows(), G::scale_cols(n),
           grid.row_stride(), grid.col_stride()}};
}

template <class E, class G>
OFP8_INLINE scaled_view<E, G> rows(scaled_matrix<E, G>& x, std::ptrdiff_t first, std::ptrdiff_t n) {
  return rows(x.view(), first, n);
}
template <class E, class G>
OFP8_INLINE scaled_view<const E, G> rows(const scaled_matrix<E, G>& x, std::ptrdiff_t first,
                                         std::ptrdiff_t n) {
  return rows(x.view(), first, n);
}
template <class E, class G>
void rows(const scaled_matrix<E, G>&&, std::ptrdiff_t, std::ptrdiff_t) = delete;

template <class E, class G>
OFP8_INLINE scaled_view<E, G> columns(scaled_matrix<E, G>& x, std::ptrdiff_t first, std::ptrdiff_t n) {
  return columns(x.view(), first, n);
}
template <class E, class G>
OFP8_INLINE scaled_view<const E, G> columns(const scaled_matrix<E, G>& x, std::ptrdiff_t first,
                                            std::ptrdiff_t n) {
  return columns(x.view(), first, n);
}
template <class E, class G>
void columns(const scaled_matrix<E, G>&&, std::ptrdiff_t, std::ptrdiff_t) = delete;

}  // namespace ofp8
