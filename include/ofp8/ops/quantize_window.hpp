// SPDX-License-Identifier: Apache-2.0
// ofp8: how quantize does one window of blocks: their amax, their scales, their codes while the numbers are still in
// the cache.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <ofp8/arch/cache_sizes.hpp>
#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/plain_scales.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/static_scale.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8::detail {

/// The recipe's last steps for codes E and elements In, as the kernels take them.
template <class E, class In>
OFP8_INLINE constexpr quantize_rule quantize_rule_for(const recipe& r, bool divide) noexcept {
  quantize_rule rule{
      .encode = encode_rule_for(E::spec, r.conversion), .divide = divide, .on_minus_zero = r.on_minus_zero};
  if (r.on_nan == nan_rule::largest) {
    rule.encode.nan = static_cast<std::uint8_t>(E::spec.largest_code());
    rule.encode.nan_sign = 0;
  }
  if (r.arithmetic == arithmetic::input_type && !std::same_as<In, float>)
    rule.quotient = std::same_as<In, bf16> ? quantize_rule::quotient_type::to_bf16
                                           : quantize_rule::quotient_type::to_fp16;
  return rule;
}

}  // namespace ofp8::detail

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// One quantization: where the numbers come from and where they go.
template <fp8_type E, scale_type Scale, class In>
struct quantization {
  detail::block_geometry geometry;
  matrix_view<const In> x;
  matrix_view<E> codes;
  scale_grid<Scale> scales;
  const recipe& how;
  const static_scale* given;  // null: computed from x
  bool counted;
  const row_kernels& rows;
  const codec_kernels<E>& codec;
};

/// Blocks of a window, so that its numbers stay in the cache between amax and codes: a row of it in half of L1,
/// several in half of L2.
template <class In>
inline std::ptrdiff_t window_blocks(const detail::block_geometry& g) noexcept {
  const cache_sizes& caches = this_caches();
  const std::ptrdiff_t bytes = (g.block_rows == 1 ? caches.l1 : caches.l2) / 2;
  const std::ptrdiff_t block_bytes = static_cast<std::ptrdiff_t>(sizeof(In)) * g.block_cols;
  const std::ptrdiff_t fitting = bytes / block_bytes / g.block_rows;
  return fitting < 1 ? 1 : detail::at_most(fitting, detail::block_geometry::window);
}

/// The largest magnitudes (float bits) of a window's blocks in some rows are merged into `amax`. Returns the
/// largest of all numbers, counted or not.
template <class Q>
inline std::uint32_t merge_amax(const Q& q, detail::index_range rows, detail::index_range blocks,
                                std::uint32_t* amax) noexcept {
  const detail::index_range columns = q.geometry.columns_of_blocks(blocks);
  const auto kernel = detail::amax_kernel<typename decltype(q.x)::value_type>(q.rows);
  std::uint32_t largest = 0;
  for (std::ptrdiff_t r = rows.first; r < rows.last; ++r) {
    const std::uint32_t found =
        kernel(q.x.row(r) + columns.first, columns.size(), q.geometry.block_cols, q.how.amax, amax);
    if (found > largest) largest = found;
  }
  return largest;
}

/// What the codes of a window's blocks need.
struct window_operands {
  float of_block[detail::block_geometry::window];
  bool divide = true;
  bool in_range = false;  // quantize_rule::in_range
};

/// Whether no quotient of a magnitude up to amax[b] rounds beyond the largest number of E. All formats round down
/// what exceeds it by up to 1/64.
template <fp8_type E>
inline bool quotients_are_in_range(const std::uint32_t* amax, std::ptrdiff_t n,
                                   const window_operands& o) noexcept {
  constexpr float most = detail::code_range_of<E>().max * (1.0f + 1.0f / 64);
  std::uint32_t beyond = 0;
  for (std::ptrdiff_t b = 0; b < n; ++b) {
    const float a = detail::float_from_bits(amax[b]);
    const std::uint32_t quotient = detail::bits_of(o.divide ? a : a * o.of_block[b]);
    const std::uint32_t limit = detail::bits_of(o.divide ? o.of_block[b] * most : most);
    // NaN and negative operands are not: as integers they lie outside.
    beyond |= scalar::above(quotient, limit) | scalar::mask(limit - 1 >= detail::float_infinity) |
              scalar::mask(quotient >= detail::float_infinity);
  }
  return beyond == 0;
}

/// The scales of a window's blocks by the recipe, many at once where it is a plain one.
template <fp8_type E, scale_type Scale, class In>
inline void store_plain_scales(const quantization<E, Scale, In>& q, std::ptrdiff_t i,
                               detail::index_range blocks, const std::uint32_t* amax,
                               window_operands& o) noexcept {
  plain_scales(amax, blocks.size(), q.how, detail::code_range_of<E>().max, o.of_block);
  for (std::ptrdiff_t j = blocks.first; j < blocks.last; ++j)
    q.scales(i, j) = detail::stored_scale<Scale>(o.of_block[j - blocks.first]);
  o.divide = q.how.apply == apply_rule::divide;
  if (!o.divide)
    for (std::ptrdiff_t b = 0; b < blocks.size(); ++b) o.of_block[b] = 1.0f / o.of_block[b];
}

/// Stores the scales of a window's blocks in strip i and gives their operands. `largest` is what merge_amax returned.
template <fp8_type E, scale_type Scale, class In>
inline void store_scales(const quantization<E, Scale, In>& q, std::ptrdiff_t i, detail::index_range blocks,
                         const std::uint32_t* amax, std::uint32_t largest, window_operands& o) noexcept {
  const bool finite = largest < detail::float_infinity;
  if (q.given == nullptr && finite && has_plain_scales<Scale>(q.how)) {
    store_plain_scales(q, i, blocks, amax, o);
    // amax / s is MAX, give or take some roundings, unless s is subnormal.
    if (q.how.scale_floor >= detail::float_from_bits(detail::float_smallest_normal)) {
      o.in_range = true;
      return;
    }
  } else {
    for (std::ptrdiff_t j = blocks.first; j < blocks.last; ++j) {
      const std::ptrdiff_t b = j - blocks.first;
      const scale_step step = q.given != nullptr
                                  ? static_scale_step<Scale>(q.how, (*q.given)(i, j))
                                  : scale_step_for<E, Scale, In>(q.how, detail::float_from_bits(amax[b]));
      q.scales(i, j) = detail::stored_scale<Scale>(step.scale);
      o.of_block[b] = step.operand;
      o.divide = step.divide;
    }
  }
  o.in_range = q.given == nullptr && finite && quotients_are_in_range<E>(amax, blocks.size(), o);
}

template <fp8_type E, scale_type Scale, class In>
inline void write_codes(const quantization<E, Scale, In>& q, detail::index_range rows,
                        detail::index_range blocks, const window_operands& o,
                        quantize_counts& counts) noexcept {
  const detail::index_range columns = q.geometry.columns_of_blocks(blocks);
  quantize_rule rule = detail::quantize_rule_for<E, In>(q.how, o.divide);
  rule.in_range = o.in_range;
  const auto kernel = detail::quantize_kernel<In>(q.codec);
  for (std::ptrdiff_t r = rows.first; r < rows.last; ++r)
    kernel(q.x.row(r) + columns.first, columns.size(), q.geometry.block_cols, o.of_block, rule,
           q.codes.row(r) + columns.first, q.counted ? &counts : nullptr);
}

/// One strip on one thread, in windows of so many blocks.
template <class Q>
inline void quantize_strip(const Q& q, std::ptrdiff_t i, std::ptrdiff_t window,
                           quantize_counts& counts) noexcept {
  const detail::index_range rows = q.geometry.rows_of_strip(i);
  for (std::ptrdiff_t first = 0; first < q.geometry.grid_cols; first += window) {
    const detail::index_range blocks{first, detail::at_most(first + window, q.geometry.grid_cols)};
    std::uint32_t amax[detail::block_geometry::window];
    window_operands operands;
    for (std::ptrdiff_t b = 0; b < blocks.size(); ++b) amax[b] = 0;
    const std::uint32_t largest = q.given == nullptr ? merge_amax(q, rows, blocks, amax) : 0;
    store_scales(q, i, blocks, amax, largest, operands);
    write_codes(q, rows, blocks, operands, counts);
  }
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
