// SPDX-License-Identifier: Apache-2.0
// ofp8: pack(w), once per weight: codes in the order in which GEMM kernels read them, with their scales. One
// layout serves every kernel of an architecture family, so a packed weight may be written to a file and mapped.
//
//   auto packed = pack(wq);  gemm_nt(aq, packed, d);
//   auto view = pack_into(wq, bytes);             // memory of the caller: packed_bytes(n, k), aligned to 64
//   auto again = unpack(packed);                  // the scaled_matrix that went in
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <ofp8/arch/dispatch.hpp>
#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/packed_weight.hpp>
#include <ofp8/ops/split.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// Columns (rows of the weight) that panel `p` really has.
OFP8_INLINE std::ptrdiff_t columns_of_panel(std::ptrdiff_t n, std::ptrdiff_t p) noexcept {
  const std::ptrdiff_t left = n - p * packed_layout::columns;
  return left < packed_layout::columns ? left : packed_layout::columns;
}

/// Calls f(p) for every panel of an n x k weight, as tasks.
template <class F>
inline void for_each_panel(const execution& where, std::ptrdiff_t n, std::ptrdiff_t k, F f) {
  const std::ptrdiff_t panels = packed_layout::panels(n);
  const std::ptrdiff_t tasks = task_count(where, panels, packed_layout::panel_bytes(k), panels);
  for_each_part(where, panels, tasks, [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t p = first; p < last; ++p) f(p);
  });
}

template <fp8_type E>
inline void pack_codes(const char* function, matrix_view<const E> codes, std::byte* memory,
                       const execution& where) {
  const gemm_kernels<E>& kernels = gemm_kernels_of<E>(resolve(function, where.isa));
  const std::ptrdiff_t n = codes.rows(), k = codes.cols();
  const detail::packed_header header = detail::packed_header_for<E>(n, k);
  std::memcpy(memory, &header, sizeof header);
  std::byte* panels = memory + detail::packed_header_bytes;
  for_each_panel(where, n, k, [&](std::ptrdiff_t p) {
    kernels.pack_panel(codes.row(p * packed_layout::columns), codes.leading_dimension(),
                       columns_of_panel(n, p), k, panels + p * packed_layout::panel_bytes(k));
  });
}

template <class Scale>
inline matrix<Scale> copy_of(scale_grid<const Scale> grid) {
  matrix<Scale> copy(grid.rows(), grid.cols());
  for (std::ptrdiff_t i = 0; i < grid.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < grid.cols(); ++j) copy(i, j) = grid(i, j);
  return copy;
}

}  // namespace impl

/// The packed form of `w` (N x K codes with scales), owned. Throws std::bad_alloc; argument_error for an isa
/// that this machine lacks. O(N K).
template <scaled_operand W>
requires fp8_type<code_of<const W>>
[[nodiscard]] auto pack(const W& w, const execution& where = {}) {
  using E = code_of<const W>;
  using G = granularity_of<const W>;
  const scaled_view<const E, G> view = as_scaled_view(w);
  matrix<std::byte> bytes(1, static_cast<std::ptrdiff_t>(packed_bytes(view.rows(), view.cols())));
  impl::pack_codes<E>("pack", view.codes(), bytes.data(), where);
  return packed_weight<E, G>(std::move(bytes), view.rows(), view.cols(), impl::copy_of(view.scales()));
}

/// Writes the packed codes of `w` to the caller's memory: at least packed_bytes(N, K), aligned to 64 bytes. The
/// view that it returns refers to that memory and to the scales of `w`. Allocates nothing. Throws shape_error
/// when the memory is too small, argument_error when it is unaligned.
template <scaled_operand W>
requires fp8_type<code_of<const W>>
auto pack_into(const W& w, std::span<std::byte> memory, const execution& where = {}) {
  using E = code_of<const W>;
  using G = granularity_of<const W>;
  const scaled_view<const E, G> view = as_scaled_view(w);
  detail::check_packed_memory("pack_into", memory.data(), memory.size(), view.rows(), view.cols());
  impl::pack_codes<E>("pack_into", view.codes(), memory.data(), where);
  return packed_view<E, G>(memory, view.rows(), view.cols(), view.scales());
}

/// The inverse of pack: the same codes and scales.
template <packed_operand P>
[[nodiscard]] auto unpack(const P& packed, const execution& where = {}) {
  const auto view = as_packed_view(packed);
  using E = typename decltype(view)::code;
  using G = typename decltype(view)::granularity;
  const gemm_kernels<E>& kernels = gemm_kernels_of<E>(impl::resolve("unpack", where.isa));
  const std::ptrdiff_t n = view.rows(), k = view.cols();
  matrix<E> codes(n, k);
  impl::for_each_panel(where, n, k, [&](std::ptrdiff_t p) {
    kernels.unpack_panel(view.panels() + p * packed_layout::panel_bytes(k), impl::columns_of_panel(n, p), k,
                         codes.row(p * packed_layout::columns), k);
  });
  return scaled_matrix<E, G>(std::move(codes), impl::copy_of(view.scales()));
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
