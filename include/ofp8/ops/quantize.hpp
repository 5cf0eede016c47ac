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
#include <ofp8/ops/quantize_window.hpp>
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

// Each task has a slot of its own for what it found; slots are merged in order afterwards. That takes no
// atomics and no allocation, and bounds the number of tasks.
inline constexpr std::ptrdiff_t most_strip_tasks = 256;
inline constexpr std::ptrdiff_t most_row_tasks = 64;
inline constexpr std::ptrdiff_t row_task_window = 64;  // blocks: 64 slots of them are 16 KiB of stack

/// Strips side by side.
template <class Q>
inline void quantize_strips(const Q& q, std::ptrdiff_t tasks, const execution& where,
                            quantize_counts& counts) {
  const std::ptrdiff_t window =
      window_blocks<std::remove_const_t<typename decltype(q.x)::value_type>>(q.geometry);
  if (tasks == 1)
    return for_each_part(where, q.geometry.grid_rows, 1,
                         [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t last) {
                           for (std::ptrdiff_t i = first; i < last; ++i) quantize_strip(q, i, window, counts);
                         });
  quantize_counts found[most_strip_tasks];
  for_each_part(where, q.geometry.grid_rows, tasks,
                [&](std::ptrdiff_t task, std::ptrdiff_t first, std::ptrdiff_t last) {
                  for (std::ptrdiff_t i = first; i < last; ++i) quantize_strip(q, i, window, found[task]);
                });
  for (std::ptrdiff_t task = 0; task < tasks; ++task) counts += found[task];
}

/// What one task found in its rows of a window.
struct row_task_amax {
  std::uint32_t of_block[row_task_window];
  std::uint32_t largest;
};

/// One strip by several tasks, because it is most of the matrix (per tensor): all rows' amax, then all codes.
template <class Q>
inline void quantize_rows(const Q& q, std::ptrdiff_t i, std::ptrdiff_t tasks, const execution& where,
                          quantize_counts& counts) {
  const detail::index_range strip = q.geometry.rows_of_strip(i);
  row_task_amax amax[most_row_tasks];
  window_operands operands;
  quantize_counts found[most_row_tasks];
  for (std::ptrdiff_t first = 0; first < q.geometry.grid_cols; first += row_task_window) {
    const detail::index_range blocks{first, detail::at_most(first + row_task_window, q.geometry.grid_cols)};
    for (row_task_amax& slot : amax) slot = {};
    if (q.given == nullptr)
      for_each_part(where, strip.size(), tasks,
                    [&](std::ptrdiff_t task, std::ptrdiff_t from, std::ptrdiff_t to) {
                      amax[task].largest =
                          merge_amax(q, {strip.first + from, strip.first + to}, blocks, amax[task].of_block);
                    });
    for (std::ptrdiff_t task = 1; task < tasks; ++task) {
      for (std::ptrdiff_t b = 0; b < blocks.size(); ++b)
        if (amax[task].of_block[b] > amax[0].of_block[b]) amax[0].of_block[b] = amax[task].of_block[b];
      if (amax[task].largest > amax[0].largest) amax[0].largest = amax[task].largest;
    }
    {
      const detail::fp_environment_guard guard;
      store_scales(q, i, blocks, amax[0].of_block, amax[0].largest, operands);
    }
    for_each_part(where, strip.size(), tasks,
                  [&](std::ptrdiff_t task, std::ptrdiff_t from, std::ptrdiff_t to) {
                    write_codes(q, {strip.first + from, strip.first + to}, blocks, operands, found[task]);
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
