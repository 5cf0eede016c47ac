// SPDX-License-Identifier: Apache-2.0
// ofp8: quantize<E, G>(x) and quantize_into(x, out): a matrix of float, bf16 or fp16 to FP8 codes with
// scales, computed from the live numbers by a recipe, or given. The bytes are those of reference::quantize on
// every ISA and any number of threads; quantize_into allocates nothing.
//
//   auto wq = quantize<e4m3, per_channel>(w);                       // scaled_matrix: codes and scales
//   auto bq = quantize<e4m3, block_wise<128, 128>>(w, recipes::deepseek_v3, {.executor = pool});
//   quantize_into(a, scaled_view<e4m3, per_tensor>{codes, scales}, static_scale(0.25f), counts);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/range.hpp>
#include <ofp8/ops/split.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/scale/static_scale.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {
namespace detail {

/// A matrix of float, bf16 or fp16.
template <class X>
concept wide_matrix = matrix_like<X> && wide_number<std::remove_const_t<element_of<X>>>;

/// A writable scaled_view, by value or not, or what owns its codes, by reference.
template <class X>
concept quantize_output = scaled_operand<X> && fp8_type<typename scaled_view_of<X>::element_type> &&
    (std::is_lvalue_reference_v<X> || std::same_as<std::remove_cvref_t<X>, scaled_view_of<X>>);

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

}  // namespace detail
}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_output(const char* function, detail::extent x, detail::extent out) {
  detail::message m;
  m << function << ": x is " << x << ", out is " << out << ": shapes differ";
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_conversion(const char* function, bool stochastic, unsigned nan,
                                                     const char* format) {
  detail::message m;
  m << function << ": the recipe's conversion ";
  if (stochastic)
    m << "rounds stochastically: the kernels take no random bits";
  else
    m << "has NaN code " << nan << ": " << format << " has no such NaN";
  detail::fail<argument_error>(m);
}

template <fp8_type E>
inline void check_conversion(const char* function, const policy& p) {
  const bool stochastic = p.rounding == rounding_mode::stochastic;
  if (stochastic || !detail::fits(E::spec, p))
    refuse_conversion(function, stochastic, detail::nan_code_of(E::spec, p), E::format::name);
}

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

/// The largest magnitudes (float bits) of a window's blocks in some rows are merged into `amax`.
template <class Q>
inline void merge_amax(const Q& q, detail::index_range rows, detail::index_range blocks,
                       std::uint32_t* amax) noexcept {
  const detail::index_range columns = q.geometry.columns_of_blocks(blocks);
  const auto kernel = detail::amax_kernel<typename decltype(q.x)::value_type>(q.rows);
  for (std::ptrdiff_t r = rows.first; r < rows.last; ++r)
    kernel(q.x.row(r) + columns.first, columns.size(), q.geometry.block_cols, q.how.amax, amax);
}

/// Stores the scales of a window's blocks in strip i and gives their operands; returns whether to divide.
template <fp8_type E, scale_type Scale, class In>
inline bool store_scales(const quantization<E, Scale, In>& q, std::ptrdiff_t i, detail::index_range blocks,
                         const std::uint32_t* amax, float* operands) noexcept {
  bool divide = true;
  for (std::ptrdiff_t j = blocks.first; j < blocks.last; ++j) {
    const std::ptrdiff_t b = j - blocks.first;
    const scale_step step = q.given != nullptr
                                ? static_scale_step<Scale>(q.how, (*q.given)(i, j))
                                : scale_step_for<E, Scale, In>(q.how, detail::float_from_bits(amax[b]));
    q.scales(i, j) = detail::stored_scale<Scale>(step.scale);
    operands[b] = step.operand;
    divide = step.divide;
  }
  return divide;
}

template <fp8_type E, scale_type Scale, class In>
inline void write_codes(const quantization<E, Scale, In>& q, detail::index_range rows,
                        detail::index_range blocks, const float* operands, bool divide,
                        quantize_counts& counts) noexcept {
  const detail::index_range columns = q.geometry.columns_of_blocks(blocks);
  const quantize_rule rule = detail::quantize_rule_for<E, In>(q.how, divide);
  const auto kernel = detail::quantize_kernel<In>(q.codec);
  for (std::ptrdiff_t r = rows.first; r < rows.last; ++r)
    kernel(q.x.row(r) + columns.first, columns.size(), q.geometry.block_cols, operands, rule,
           q.codes.row(r) + columns.first, q.counted ? &counts : nullptr);
}

/// One strip on one thread: amax of a window, its scales, its codes while the rows are still in the cache.
template <class Q>
inline void quantize_strip(const Q& q, std::ptrdiff_t i, quantize_counts& counts) noexcept {
  const detail::index_range rows = q.geometry.rows_of_strip(i);
  for (std::ptrdiff_t first = 0; first < q.geometry.grid_cols; first += detail::block_geometry::window) {
    const detail::index_range blocks = q.geometry.window_from(first);
    std::uint32_t amax[detail::block_geometry::window];
    float operands[detail::block_geometry::window];
    for (std::ptrdiff_t b = 0; b < blocks.size(); ++b) amax[b] = 0;
    if (q.given == nullptr) merge_amax(q, rows, blocks, amax);
    const bool divide = store_scales(q, i, blocks, amax, operands);
    write_codes(q, rows, blocks, operands, divide, counts);
  }
}

// Each task has a slot of its own for what it found; slots are merged in order afterwards. That takes no
// atomics and no allocation, and bounds the number of tasks.
inline constexpr std::ptrdiff_t most_strip_tasks = 256;
inline constexpr std::ptrdiff_t most_row_tasks = 64;
inline constexpr std::ptrdiff_t row_task_window = 64;  // blocks: 64 slots of them are 16 KiB of stack

/// Strips side by side.
template <class Q>
inline void quantize_strips(const Q& q, std::ptrdiff_t tasks, const execution& where,
                            quantize_counts& counts) {
  quantize_counts found[most_strip_tasks];
  for_each_part(where, q.geometry.grid_rows, tasks,
                [&](std::ptrdiff_t task, std::ptrdiff_t first, std::ptrdiff_t last) {
                  for (std::ptrdiff_t i = first; i < last; ++i) quantize_strip(q, i, found[task]);
                });
  for (std::ptrdiff_t task = 0; task < tasks; ++task) counts += found[task];
}

/// One strip by several tasks, because it is most of the matrix (per tensor): all rows' amax, then all codes.
template <class Q>
inline void quantize_rows(const Q& q, std::ptrdiff_t i, std::ptrdiff_t tasks, const execution& where,
                          quantize_counts& counts) {
  const detail::index_range strip = q.geometry.rows_of_strip(i);
  std::uint32_t amax[most_row_tasks][row_task_window];
  float operands[row_task_window];
  quantize_counts found[most_row_tasks];
  for (std::ptrdiff_t first = 0; first < q.geometry.grid_cols; first += row_task_window) {
    const detail::index_range blocks{first, detail::at_most(first + row_task_window, q.geometry.grid_cols)};
    for (auto& slot : amax)
      for (std::uint32_t& a : slot) a = 0;
    if (q.given == nullptr)
      for_each_part(where, strip.size(), tasks,
                    [&](std::ptrdiff_t task, std::ptrdiff_t from, std::ptrdiff_t to) {
                      merge_amax(q, {strip.first + from, strip.first + to}, blocks, amax[task]);
                    });
    for (std::ptrdiff_t task = 1; task < tasks; ++task)
      for (std::ptrdiff_t b = 0; b < blocks.size(); ++b)
        if (amax[task][b] > amax[0][b]) amax[0][b] = amax[task][b];

    bool divide = true;
    {
      const detail::fp_environment_guard guard;
      divide = store_scales(q, i, blocks, amax[0], operands);
    }
    for_each_part(
        where, strip.size(), tasks, [&](std::ptrdiff_t task, std::ptrdiff_t from, std::ptrdiff_t to) {
          write_codes(q, {strip.first + from, strip.first + to}, blocks, operands, divide, found[task]);
        });
  }
  for (const quantize_counts& slot : found) counts += slot;
}

template <class Q>
inline void quantize_all(const Q& q, const execution& where, quantize_counts& counts) {
  const detail::block_geometry& g = q.geometry;
  const std::ptrdiff_t strip_rows = detail::at_most(g.block_rows, g.rows);
  const std::ptrdiff_t strips = task_count(where, g.grid_rows, strip_rows * g.cols, most_strip_tasks);
  const std::ptrdiff_t parts = task_count(where, strip_rows, g.cols, most_row_tasks);
  const auto threads = static_cast<std::ptrdiff_t>(where.executor.concurrency());
  if (g.grid_rows >= threads || parts == 1) {
    quantize_strips(q, strips, where, counts);
  } else {
    for (std::ptrdiff_t i = 0; i < g.grid_rows; ++i) quantize_rows(q, i, parts, where, counts);
  }
}

template <fp8_type E, granularity G, class In>
inline void quantize_into(const char* function, matrix_view<const In> x, const scaled_view<E, G>& out,
                          const static_scale* given, quantize_counts* counts, const recipe& how,
                          const execution& where) {
  if (x.rows() != out.rows() || x.cols() != out.cols())
    refuse_output(function, {x.rows(), x.cols()}, {out.rows(), out.cols()});
  check_conversion<E>(function, how.conversion);
  if (given != nullptr) detail::check_static_scale<G>(function, *given, x.rows(), x.cols());
  const isa id = resolve(function, where.isa);
  const quantization<E, typename G::scale_type, In> q{.geometry = detail::geometry_of<G>(x.rows(), x.cols()),
                                                      .x = x,
                                                      .codes = out.codes(),
                                                      .scales = out.scales(),
                                                      .how = how,
                                                      .given = given,
                                                      .counted = counts != nullptr,
                                                      .rows = row_kernels_of(id),
                                                      .codec = codec_kernels_of<E>(id)};
  quantize_counts found;
  quantize_all(q, where, found);
  if (counts != nullptr) *counts += found;
}

template <class X, class Out>
inline void quantize_matrix_into(const char* function, const X& x, Out&& out, const static_scale* given,
                                 quantize_counts* counts, const recipe& how, const execution& where) {
  using in = std::remove_const_t<element_of<const X>>;
  quantize_into(function, matrix_view<const in>(as_view(x)), as_scaled_view(out), given, counts, how, where);
}

}  // namespace impl

/// Codes and scales of `x`, written to `out` (a scaled_view, or a scaled_matrix&) of the same shape; out's
/// type says the code, the granularity and the type of the scales. x is rows x cols of float, bf16 or fp16
/// and does not overlap out. Scales come from x by the recipe. Allocates nothing. Throws shape_error when the
/// shapes differ; argument_error for a conversion that rounds stochastically or has no NaN code of E, and for
/// an isa that this machine lacks.
template <detail::wide_matrix X, detail::quantize_output Out>
inline void quantize_into(const X& x, Out&& out, const recipe& how = {}, const execution& where = {}) {
  impl::quantize_matrix_into("quantize_into", x, out, nullptr, nullptr, how, where);
}
/// The same, and adds what happened to the elements to `counts`.
template <detail::wide_matrix X, detail::quantize_output Out>
inline void quantize_into(const X& x, Out&& out, quantize_counts& counts, const recipe& how = {},
                          const execution& where = {}) {
  impl::quantize_matrix_into("quantize_into", x, out, nullptr, &counts, how, where);
}
/// With the caller's scales, which are copied to out. Throws shape_error for a grid of another shape,
/// argument_error for a scale that is not finite and positive or that out's scale type cannot hold.
template <detail::wide_matrix X, detail::quantize_output Out>
inline void quantize_into(const X& x, Out&& out, const static_scale& scales, const recipe& how = {},
                          const execution& where = {}) {
  impl::quantize_matrix_into("quantize_into", x, out, &scales, nullptr, how, where);
}
/// With the caller's scales, counted.
template <detail::wide_matrix X, detail::quantize_output Out>
inline void quantize_into(const X& x, Out&& out, const static_scale& scales, quantize_counts& counts,
                          const recipe& how = {}, const execution& where = {}) {
  impl::quantize_matrix_into("quantize_into", x, out, &scales, &counts, how, where);
}

/// quantize_into with a new scaled_matrix<E, G>.
template <fp8_type E, granularity G, detail::wide_matrix X>
[[nodiscard]] inline scaled_matrix<E, G> quantize(const X& x, const recipe& how = {},
                                                  const execution& where = {}) {
  scaled_matrix<E, G> out(as_view(x).rows(), as_view(x).cols());
  impl::quantize_matrix_into("quantize", x, out, nullptr, nullptr, how, where);
  return out;
}
/// With the caller's scales.
template <fp8_type E, granularity G, detail::wide_matrix X>
[[nodiscard]] inline scaled_matrix<E, G> quantize(const X& x, const static_scale& scales,
                                                  const recipe& how = {}, const execution& where = {}) {
  scaled_matrix<E, G> out(as_view(x).rows(), as_view(x).cols());
  impl::quantize_matrix_into("quantize", x, out, &scales, nullptr, how, where);
  return out;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
