// SPDX-License-Identifier: Apache-2.0
// ofp8: gemm_nt, the scaled product of activations and weights, both K-contiguous as tokens and checkpoints have
// them: d[m,n] = sum_k a[m,k] b[n,k]. FP32 sums in increasing k, scales after the sums, one rounding at the end:
// the same bits on every ISA, with any number of threads, packed or not, for a row alone or in a batch.
//
//   gemm_nt(aq, wq, d);                                              // W8A8, any pair of granularities
//   gemm_nt(a_bf16, packed, d_bf16, {.bias = bias});                 // W8A16
//   gemm_nt(aq, packed, d, {.addend = residual.view()}, {.executor = pool});
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/gemm_operands.hpp>
#include <ofp8/ops/gemm_plan.hpp>
#include <ofp8/ops/gemm_tasks.hpp>
#include <ofp8/ops/packed_weight.hpp>
#include <ofp8/ops/range.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {
namespace detail {

template <class X>
concept fp8_operand = scaled_operand<const X> && fp8_type<code_of<const X>>;

template <class X>
concept plain_operand = matrix_like<const X> && wide_number<std::remove_const_t<element_of<const X>>>;

template <class X>
concept one_scale =
    scaled_view_of<X>::granularity::rows == whole&& scaled_view_of<X>::granularity::cols == whole;

// An lvalue, or a view by value: not a matrix that is gone after the call.
template <class X>
concept fp8_gemm_output = scaled_operand<X> && fp8_type<typename scaled_view_of<X>::element_type> &&
    one_scale<X> &&(std::is_lvalue_reference_v<X> || std::same_as<std::remove_cvref_t<X>, scaled_view_of<X>>);

}  // namespace detail

/// A of a GEMM: FP8 codes with scales of any granularity, or a matrix of float, bf16 or fp16.
template <class X>
concept gemm_activations = detail::fp8_operand<X> || detail::plain_operand<X>;

/// B of a GEMM: FP8 codes with scales of any granularity, packed or in rows.
template <class X>
concept gemm_weights = packed_operand<X> || detail::fp8_operand<X>;

/// D of a GEMM: a matrix that outlives the call or a view, of float, bf16 or fp16; or FP8 codes with one scale,
/// which is read.
template <class X>
concept gemm_output = detail::fp8_gemm_output<X> ||(output_matrix<X>&& detail::wide_number<element_of<X>>);

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

inline detail::message gemm_message(detail::extent a, detail::extent b) {
  detail::message m;
  m << "gemm_nt: A is " << a << ", B is " << b;
  return m;
}

[[noreturn]] OFP8_COLD inline void refuse_k(detail::extent a, detail::extent b) {
  detail::fail<shape_error>(gemm_message(a, b) << ": K differs");
}
[[noreturn]] OFP8_COLD inline void refuse_output(detail::extent a, detail::extent b, detail::extent d) {
  detail::message m = gemm_message(a, b);
  m << ", D is " << d << ": D must be " << detail::extent{a.rows, b.rows};
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_bias(std::size_t bias, detail::extent b) {
  detail::message m;
  m << "gemm_nt: bias has " << std::uint64_t{bias} << " elements, B is " << b << ": bias must have "
    << std::int64_t{b.rows};
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_addend(detail::extent addend, detail::extent d) {
  detail::message m;
  m << "gemm_nt: addend is " << addend << ", D is " << d << ": shapes differ";
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_overlap(std::ptrdiff_t addend_stride, std::ptrdiff_t d_stride) {
  detail::message m;
  m << "gemm_nt: addend begins where D does with leading dimension " << std::int64_t{addend_stride}
    << ", D has " << std::int64_t{d_stride} << ": an addend that overlaps D must be D";
  detail::fail<argument_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_scratch(std::size_t bytes, std::ptrdiff_t needed) {
  detail::message m;
  m << "gemm_nt: scratch has " << std::uint64_t{bytes} << " bytes, " << std::int64_t{needed} << " are needed";
  detail::fail<argument_error>(m);
}

// The one allocation of a call, or the caller's bytes.
class gemm_scratch {
 public:
  gemm_scratch(std::ptrdiff_t bytes, const scratch_ref& given) : data_(given.data()) {
    if (given.size() == 0) {
      data_ = owned_ = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes)));
    } else if (given.size() < static_cast<std::size_t>(bytes)) {
      refuse_scratch(given.size(), bytes);
    }
  }
  ~gemm_scratch() { ::operator delete(owned_); }
  gemm_scratch(const gemm_scratch&) = delete;
  gemm_scratch& operator=(const gemm_scratch&) = delete;
  std::byte* data() const noexcept { return data_; }

 private:
  std::byte* owned_ = nullptr;
  std::byte* data_;
};

inline std::ptrdiff_t concurrency_of(const execution& where) {
  constexpr std::size_t most = 4096;
  const std::size_t n = where.executor.concurrency();
  return static_cast<std::ptrdiff_t>(n < most ? n : most);
}

template <class A>
inline auto activation_view(const A& a) {
  if constexpr (scaled_operand<const A>) {
    const auto view = as_scaled_view(a);
    return scaled_view<const typename decltype(view)::code, typename decltype(view)::granularity>(view);
  } else {
    const auto view = as_view(a);
    return matrix_view<const typename decltype(view)::value_type>(view);
  }
}

template <class B>
inline auto weight_view(const B& b) {
  if constexpr (packed_operand<B>) {
    return as_packed_view(b);
  } else {
    return activation_view(b);
  }
}
template <class B>
using weight_code = typename decltype(weight_view(std::declval<const B&>()))::code;

inline void check_gemm(detail::extent a, detail::extent b, detail::extent d, std::size_t bias,
                       bool has_addend, detail::extent addend) {
  if (a.cols != b.cols) refuse_k(a, b);
  if (d.rows != a.rows || d.cols != b.rows) refuse_output(a, b, d);
  if (bias != 0 && bias != static_cast<std::size_t>(b.rows)) refuse_bias(bias, b);
  if (has_addend && (addend.rows != d.rows || addend.cols != d.cols)) refuse_addend(addend, d);
}

inline std::ptrdiff_t segments_of(const activation_operand& a, const weight_operand& b) noexcept {
  return cut_segments(a.k, a.scales.block_cols, b.scales.block_cols, nullptr);
}

inline void gemm(const activation_operand& a, const weight_operand& b, const output_operand& d,
                 const execution& where) {
  const gemm_shape shape{d.m, d.n, a.k};
  const gemm_plan plan =
      plan_gemm(shape, segments_of(a, b), b.blocking(shape), b.panels != nullptr, concurrency_of(where));
  const gemm_scratch scratch(plan.memory.bytes(), where.scratch);
  run_gemm({a, b, d, combine_of(a, b, d), false}, plan, scratch.data(), where);
}

}  // namespace impl

/// d[m,n] = sum_k a[m,k] b[n,k] for all m < M, n < N, as docs/numerics.md says it bit by bit.
///
/// `a` is M x K, `b` N x K, `d` M x N; any sizes, 0 included, and any leading dimensions. K = 0 gives bias +
/// addend, or +0, and reads no scale of A or B. `options` adds a bias (N floats) and an addend (M x N of D's
/// element type, of float where D is FP8): C + bias is added before the one rounding. C may be D itself,
/// exactly; no other operand may overlap D. `execution` says who runs it, on which ISA, in whose memory:
/// without scratch there is one allocation a call, with at least gemm_scratch_bytes there is none.
///
/// Throws shape_error for sizes that do not fit, argument_error for an isa that this machine lacks and for
/// scratch that is too small, std::bad_alloc. Rows of D depend on their row of A only. O(M N K).
template <gemm_activations A, gemm_weights B, gemm_output D>
void gemm_nt(const A& a, const B& b, D&& d, const gemm_options<addend_of<D>>& options = {},
             const execution& where = {}) {
  const auto av = impl::activation_view(a);
  const auto bv = impl::weight_view(b);
  const auto dv = [&] {
    if constexpr (scaled_operand<D>) {
      return as_scaled_view(d);
    } else {
      return as_view(d);
    }
  }();
  const auto& addend = options.addend;
  const bool has_addend = addend.data() != nullptr || addend.rows() != 0 || addend.cols() != 0;
  impl::check_gemm({av.rows(), av.cols()}, {bv.rows(), bv.cols()}, {dv.rows(), dv.cols()},
                   options.bias.size(), has_addend, {addend.rows(), addend.cols()});

  const isa id = impl::resolve("gemm_nt", where.isa);
  if (dv.rows() == 0 || dv.cols() == 0) return;
  impl::output_operand out = impl::output_of(dv, id);
  if (has_addend) out.addend = addend.data();
  out.addend_leading_dimension = addend.leading_dimension();
  if (out.addend == out.data && out.m > 1 && out.addend_leading_dimension != out.leading_dimension)
    impl::refuse_overlap(out.addend_leading_dimension, out.leading_dimension);
  if (!options.bias.empty()) out.bias = options.bias.data();
  out.amax = options.amax;
  impl::gemm(impl::activations_of<impl::weight_code<B>>(av, id), impl::weights_of(bv, id), out, where);
}

/// Bytes of scratch that gemm_nt(a, b, ...) of these operand types, sizes and execution (its executor and isa)
/// uses. Enough for smaller m, n, k and fewer threads, too: an engine that allocates once asks for its largest
/// shapes. Throws argument_error for an isa that this machine lacks.
template <gemm_activations A, gemm_weights B>
[[nodiscard]] std::size_t gemm_scratch_bytes(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
                                             const execution& where = {}) {
  using EB = impl::weight_code<B>;
  if (m <= 0 || n <= 0 || k < 0) return 0;
  const isa id = impl::resolve("gemm_scratch_bytes", where.isa);
  std::ptrdiff_t a_block = whole;
  if constexpr (scaled_operand<const A>) a_block = granularity_of<const A>::cols;
  const std::ptrdiff_t b_block = decltype(impl::weight_view(std::declval<const B&>()))::granularity::cols;
  const gemm_shape shape{m, n, k};
  return static_cast<std::size_t>(impl::gemm_memory_for(shape,
                                                        impl::cut_segments(k, a_block, b_block, nullptr),
                                                        gemm_kernels_of<EB>(id).blocking(shape),
                                                        packed_operand<B>, impl::concurrency_of(where))
                                      .bytes());
}

/// The same for operands at hand.
template <gemm_activations A, gemm_weights B>
[[nodiscard]] std::size_t gemm_scratch_bytes(const A& a, const B& b, const execution& where = {}) {
  const auto av = impl::activation_view(a);
  return gemm_scratch_bytes<A, B>(av.rows(), impl::weight_view(b).rows(), av.cols(), where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
