// SPDX-License-Identifier: Apache-2.0
// ofp8: requantize<E, G>(q), scaled codes to another granularity, another format or given scales, block by
// block: without any loss where powers of two allow it, else through the dequantized numbers and a recipe.
//
//   auto blocks = requantize<e4m3, block_wise<128, 128>>(per_channel_weight);
//   requantize_report report;
//   auto mx32 = requantize<e4m3, mx<32>>(weight, report);           // report.sqnr_db, .lossless_blocks
//   auto given = requantize<e4m3, per_tensor>(weight, static_scale(0.5f), report);
//
// The scale of a new block is the largest of the old scales in it, and each code moves by a power of two, where
//   - the ratios of those scales are powers of two (one scale, too: then codes stay as they are),
//   - the recipe's .power asks for none, or the scale is one, and the scale's type can hold it, and
//   - every code of the block still has its exact value.
// A given scale is used in the same way. Every other block is dequantized (fl32(code * scale)) and quantized by
// the recipe. Storing a scale rounded, as is done on the way to e8m0, without moving its codes is the bug that
// this function exists for.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/dequantize.hpp>
#include <ofp8/ops/metrics.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/ops/requantize/shift_table.hpp>
#include <ofp8/ops/split.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/scale/static_scale.hpp>

namespace ofp8 {

/// What a requantization cost, against the dequantized operand. Overwritten by each call.
struct requantize_report {
  double sqnr_db = detail::double_from_bits(0x7ff0'0000'0000'0000u);  ///< +Inf where nothing differs
  double max_abs_error = 0.0;
  std::int64_t blocks = 0;           ///< of the result
  std::int64_t lossless_blocks = 0;  ///< moved by powers of two: every number is what it was
  quantize_counts counts{};          ///< of the other blocks' elements
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

inline bool is_power_of_two(float s) noexcept {
  const std::uint32_t bits = detail::bits_of(s);
  if (bits == 0 || bits >= detail::float_infinity) return false;
  const std::uint32_t significant =
      bits < detail::float_smallest_normal ? bits & (bits - 1) : bits & 0x7f'ffff;
  return significant == 0;
}

/// What tasks add up.
struct requantize_tally {
  quantize_counts counts;
  std::int64_t lossless_blocks = 0;
};

template <fp8_type From, granularity FromG, fp8_type To, granularity ToG>
struct requantization {
  using to_scale = typename ToG::scale_type;

  scaled_view<const From, FromG> in;
  scaled_view<To, ToG> out;
  const static_scale* given;  // null: from the operand
  const recipe& how;
  const row_kernels& rows;
  const codec_kernels<From>& from;
  const codec_kernels<To>& to;
  detail::block_geometry from_blocks, to_blocks;

  static constexpr std::ptrdiff_t piece_size = 256;

  /// f(row, column, count, scale) for each piece of a new block's rows that has one old scale, at most
  /// piece_size elements long, in order; until f returns false.
  template <class F>
  bool for_each_piece(detail::index_range rs, detail::index_range cs, F f) const {
    for (std::ptrdiff_t r = rs.first; r < rs.last; ++r) {
      for (std::ptrdiff_t c = cs.first; c < cs.last;) {
        const std::ptrdiff_t old_end = (c / from_blocks.block_cols + 1) * from_blocks.block_cols;
        const std::ptrdiff_t end = detail::at_most(detail::at_most(old_end, cs.last), c + piece_size);
        if (!f(r, c, end - c, in.scale_at(r, c))) return false;
        c = end;
      }
    }
    return true;
  }

  /// The largest of the old scales (as bits, so that a NaN or a negative one is found out by its ratios).
  float largest_scale(detail::index_range rs, detail::index_range cs) const noexcept {
    std::uint32_t largest = 0;
    for_each_piece(rs, cs, [&](std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, float s) {
      if (detail::bits_of(s) > largest) largest = detail::bits_of(s);
      return true;
    });
    return detail::float_from_bits(largest);
  }

  /// Whether the recipe and the type of the scales allow s.
  bool may_be_scale(float s) const noexcept {
    if (how.power != power_rule::none && !is_power_of_two(s)) return false;
    return detail::bits_of(static_cast<float>(detail::stored_scale<to_scale>(s))) == detail::bits_of(s);
  }

  /// Writes the codes of a block for scale s; false, with some of them written, where one cannot be exact.
  bool move_codes(detail::index_range rs, detail::index_range cs, float s,
                  shift_table<From, To>& table) const noexcept {
    return for_each_piece(rs, cs, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::ptrdiff_t n, float old) {
      int k = 0;
      if (!is_power_ratio(old, s, k)) return false;
      table.set(k);
      const From* source = in.codes().row(r) + c;
      To* target = out.codes().row(r) + c;
      bool exact = true;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        exact = exact && table.is_exact(source[i]);
        target[i] = table.code(source[i]);
      }
      return exact;
    });
  }

  float amax(detail::index_range rs, detail::index_range cs) const noexcept {
    std::uint32_t bits = 0;
    for_each_piece(rs, cs, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::ptrdiff_t n, float s) {
      float values[piece_size];
      from.dequantize_f32(in.codes().row(r) + c, n, n, &s, values);
      rows.amax_f32(values, n, n, how.amax, &bits);
      return true;
    });
    return detail::float_from_bits(bits);
  }

  void quantize_block(detail::index_range rs, detail::index_range cs, const scale_step& step,
                      quantize_counts& counts) const noexcept {
    const quantize_rule rule = detail::quantize_rule_for<To, float>(how, step.divide);
    for_each_piece(rs, cs, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::ptrdiff_t n, float s) {
      float values[piece_size];
      from.dequantize_f32(in.codes().row(r) + c, n, n, &s, values);
      to.quantize_f32(values, n, n, &step.operand, rule, out.codes().row(r) + c, &counts);
      return true;
    });
  }

  void block(std::ptrdiff_t i, std::ptrdiff_t j, shift_table<From, To>& table,
             requantize_tally& tally) const noexcept {
    const detail::index_range rs = to_blocks.rows_of_strip(i), cs = to_blocks.columns_of_blocks({j, j + 1});
    const bool empty = rs.size() <= 0 || cs.size() <= 0;  // a `whole` extent over nothing
    const float kept = given != nullptr ? (*given)(i, j) : largest_scale(rs, cs);
    if (!empty && (given != nullptr || may_be_scale(kept)) && move_codes(rs, cs, kept, table)) {
      out.scales()(i, j) = detail::stored_scale<to_scale>(kept);
      ++tally.lossless_blocks;
      return;
    }
    const scale_step step = given != nullptr ? static_scale_step<to_scale>(how, kept)
                                             : scale_step_for<To, to_scale>(how, amax(rs, cs));
    out.scales()(i, j) = detail::stored_scale<to_scale>(step.scale);
    quantize_block(rs, cs, step, tally.counts);
    if (empty) ++tally.lossless_blocks;
  }
};

inline constexpr std::ptrdiff_t most_requantize_tasks = 64;

template <fp8_type To, granularity ToG, class Q>
inline void requantize_into(const char* function, const Q& q, const scaled_view<To, ToG>& out,
                            const static_scale* given, requantize_report* report, const recipe& how,
                            const execution& where) {
  using from = code_of<const Q>;
  using from_g = granularity_of<const Q>;
  const scaled_view<const from, from_g> in = as_scaled_view(q);
  check_conversion<To>(function, how.conversion);
  if (given != nullptr) detail::check_static_scale<ToG>(function, *given, in.rows(), in.cols());
  const isa id = resolve(function, where.isa);
  const requantization<from, from_g, To, ToG> job{
      .in = in,
      .out = out,
      .given = given,
      .how = how,
      .rows = row_kernels_of(id),
      .from = codec_kernels_of<from>(id),
      .to = codec_kernels_of<To>(id),
      .from_blocks = detail::geometry_of<from_g>(in.rows(), in.cols()),
      .to_blocks = detail::geometry_of<ToG>(in.rows(), in.cols())};
  const detail::block_geometry& g = job.to_blocks;
  const std::ptrdiff_t blocks = g.grid_rows * g.grid_cols;
  const std::ptrdiff_t block_elements =
      detail::at_most(g.block_rows, g.rows) * detail::at_most(g.block_cols, g.cols);
  requantize_tally found[most_requantize_tasks];
  for_each_part(where, blocks, task_count(where, blocks, block_elements, most_requantize_tasks),
                [&](std::ptrdiff_t task, std::ptrdiff_t first, std::ptrdiff_t last) {
                  shift_table<from, To> table;
                  for (std::ptrdiff_t b = first; b < last; ++b)
                    job.block(b / g.grid_cols, b % g.grid_cols, table, found[task]);
                });
  if (report == nullptr) return;
  *report = {};
  report->blocks = blocks;
  for (const requantize_tally& tally : found) {
    report->counts += tally.counts;
    report->lossless_blocks += tally.lossless_blocks;
  }
}

/// The same into a new matrix, with the errors where asked.
template <fp8_type To, granularity ToG, class Q>
inline scaled_matrix<To, ToG> requantized(const Q& q, const static_scale* given, requantize_report* report,
                                          const recipe& how, const execution& where) {
  scaled_matrix<To, ToG> out(q.rows(), q.cols());
  requantize_into("requantize", q, out.view(), given, report, how, where);
  if (report != nullptr && report->lossless_blocks != report->blocks) {
    const matrix<float> before = dequantize(q, where), after = dequantize(out, where);
    report->sqnr_db = sqnr_db(before, after);
    report->max_abs_error = max_abs_error(before, after);
  }
  return out;
}

}  // namespace impl

/// Codes To with granularity ToG for a scaled_view or scaled_matrix. Throws argument_error for a conversion
/// that rounds stochastically and for an isa that this machine lacks. An all-NaN operand keeps its NaN.
template <fp8_type To, granularity ToG, detail::scaled_codes Q>
[[nodiscard]] inline scaled_matrix<To, ToG> requantize(const Q& q, const recipe& how = {},
                                                       const execution& where = {}) {
  return impl::requantized<To, ToG>(q, nullptr, nullptr, how, where);
}
/// The same, and says what it cost, which takes two float matrices of q's shape where a block was not lossless.
/// A NaN in q makes the errors NaN then.
template <fp8_type To, granularity ToG, detail::scaled_codes Q>
[[nodiscard]] inline scaled_matrix<To, ToG> requantize(const Q& q, requantize_report& report,
                                                       const recipe& how = {}, const execution& where = {}) {
  return impl::requantized<To, ToG>(q, nullptr, &report, how, where);
}
/// With the caller's scales. Throws as quantize does for scales that do not fit.
template <fp8_type To, granularity ToG, detail::scaled_codes Q>
[[nodiscard]] inline scaled_matrix<To, ToG> requantize(const Q& q, const static_scale& scales,
                                                       const recipe& how = {}, const execution& where = {}) {
  return impl::requantized<To, ToG>(q, &scales, nullptr, how, where);
}
template <fp8_type To, granularity ToG, detail::scaled_codes Q>
[[nodiscard]] inline scaled_matrix<To, ToG> requantize(const Q& q, const static_scale& scales,
                                                       requantize_report& report, const recipe& how = {},
                                                       const execution& where = {}) {
  return impl::requantized<To, ToG>(q, &scales, &report, how, where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
