// SPDX-License-Identifier: Apache-2.0
// ofp8: the scaled GEMM as specification: three loops, one output at a time, no blocking, no tables, nothing
// shared with the kernels that it judges. Slow by design. Every backend returns these bits.
//
//   reference::gemm_nt(aq, wq, d);                       // d[m,n] = sum_k a[m,k] w[n,k]
//   reference::gemm_nt(a_bf16, wq, d_bf16, {.bias = bias});
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/reference/fma.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix_view.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8::reference {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// An operand as two questions: the value of an element's code, and the scale that it shares.
template <class T>
struct plain_operand {
  matrix_view<const T> values;
  static constexpr std::ptrdiff_t k_block = 0;  // nothing to cut K at
  std::ptrdiff_t rows() const { return values.rows(); }
  std::ptrdiff_t depth() const { return values.cols(); }
  float value(std::ptrdiff_t r, std::ptrdiff_t k) const { return static_cast<float>(values(r, k)); }
  float scale(std::ptrdiff_t, std::ptrdiff_t) const { return 1.0f; }
};

// 0 stands for a block that spans the whole dimension.
inline std::ptrdiff_t block_of(std::ptrdiff_t index, std::ptrdiff_t block) {
  return block == 0 ? 0 : index / block;
}

template <class E, class G>
struct scaled_operand {
  scaled_view<const E, G> view;
  static constexpr std::ptrdiff_t row_block = static_cast<std::ptrdiff_t>(G::rows);
  static constexpr std::ptrdiff_t k_block = static_cast<std::ptrdiff_t>(G::cols);
  std::ptrdiff_t rows() const { return view.rows(); }
  std::ptrdiff_t depth() const { return view.cols(); }
  float value(std::ptrdiff_t r, std::ptrdiff_t k) const { return static_cast<float>(view.codes()(r, k)); }
  float scale(std::ptrdiff_t r, std::ptrdiff_t k) const {
    return static_cast<float>(view.scales()(block_of(r, row_block), block_of(k, k_block)));
  }
};

template <class X>
auto operand(const X& x) {
  if constexpr (requires { as_scaled_view(x); }) {
    const auto v = as_scaled_view(x);
    return scaled_operand<std::remove_const_t<typename decltype(v)::element_type>,
                          typename decltype(v)::granularity>{v};
  } else {
    const auto v = as_view(x);
    using T = typename decltype(v)::value_type;
    return plain_operand<T>{matrix_view<const T>(v)};
  }
}

// The end of the segment that begins at k: the next boundary of either operand's scale grid.
inline std::ptrdiff_t next_boundary(std::ptrdiff_t k, std::ptrdiff_t block, std::ptrdiff_t depth) {
  if (block == 0) return depth;
  const std::ptrdiff_t next = (k / block + 1) * block;
  return next < depth ? next : depth;
}

template <class A, class B>
float segment_sum(const A& a, const B& b, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t begin,
                  std::ptrdiff_t end) {
  float acc = 0.0f;
  for (std::ptrdiff_t k = begin; k < end; ++k) acc = fma(a.value(m, k), b.value(n, k), acc);
  return acc;
}

// One output in FP32, before the rounding to D's type. `t` is C[m,n] + bias[n], of what is present.
template <class A, class B>
float element(const A& a, const B& b, std::ptrdiff_t m, std::ptrdiff_t n, bool has_addend, float t) {
  const std::ptrdiff_t depth = a.depth();
  if (depth == 0) return has_addend ? t : 0.0f;

  if constexpr (A::k_block == 0 && B::k_block == 0) {
    const float acc = segment_sum(a, b, m, n, 0, depth);
    const float alpha = a.scale(m, 0) * b.scale(n, 0);
    return has_addend ? fma(acc, alpha, t) : acc * alpha;
  } else {
    float v = has_addend ? t : 0.0f;
    for (std::ptrdiff_t begin = 0; begin < depth;) {
      const std::ptrdiff_t end_a = next_boundary(begin, A::k_block, depth);
      const std::ptrdiff_t end_b = next_boundary(begin, B::k_block, depth);
      const std::ptrdiff_t end = end_a < end_b ? end_a : end_b;
      const float alpha = a.scale(m, begin) * b.scale(n, begin);
      v = fma(segment_sum(a, b, m, n, begin, end), alpha, v);
      begin = end;
    }
    return v;
  }
}

template <class D>
auto output(D& d) {
  if constexpr (requires { as_scaled_view(d); }) {
    return as_scaled_view(d);
  } else {
    return as_view(d);
  }
}

template <class A, class B, class D, class Options>
void check_shapes(const char* function, const A& a, const B& b, const D& d, const Options& options) {
  const auto& c = options.addend;
  const bool bias_fits = options.bias.empty() || static_cast<std::ptrdiff_t>(options.bias.size()) == b.rows();
  const bool addend_fits = c.data() == nullptr || (c.rows() == d.rows() && c.cols() == d.cols());
  const bool operands_fit = a.depth() == b.depth() && d.rows() == a.rows() && d.cols() == b.rows();
  if (operands_fit && bias_fits && addend_fits) return;
  detail::message m;
  m << function << ": A is " << detail::extent{a.rows(), a.depth()} << ", B is "
    << detail::extent{b.rows(), b.depth()} << ", D is " << detail::extent{d.rows(), d.cols()};
  if (!bias_fits) m << ", bias has " << std::uint64_t{options.bias.size()} << " numbers";
  if (!addend_fits) m << ", the addend is " << detail::extent{c.rows(), c.cols()};
  detail::fail<shape_error>(m);
}

template <class T>
T rounded(float v) {
  if constexpr (std::same_as<T, float>) {
    return detail::canonical(v);
  } else {
    return convert<T>(v);
  }
}

}  // namespace impl

/// d[m,n] = sum_k a[m,k] b[n,k], scales applied after the FP32 sum of each segment of K, one final rounding.
/// `a` is a scaled operand or a plain matrix of float, bf16 or fp16; `b` a scaled operand; `d` a matrix or
/// view of float, bf16 or fp16, or a scaled_view<E, per_tensor> whose scale is read. Throws shape_error. O(M
/// N K).
template <class A, class B, class D>
void gemm_nt(const A& a_in, const B& b_in, D&& d_in, const gemm_options<addend_of<D>>& options = {}) {
  const detail::fp_environment_guard guard;
  const auto a = impl::operand(a_in);
  const auto b = impl::operand(b_in);
  const auto d = impl::output(d_in);
  impl::check_shapes("reference::gemm_nt", a, b, d, options);
  constexpr bool fp8_output = requires { d.scales(); };
  const auto& addend = options.addend;
  const auto& bias = options.bias;

  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      const bool has_c = addend.data() != nullptr;
      const bool has_bias = !bias.empty();
      float t = 0.0f;
      if (has_c) t = static_cast<float>(addend(m, n));
      if (has_bias) t = has_c ? t + bias[static_cast<std::size_t>(n)] : bias[static_cast<std::size_t>(n)];
      const float v = impl::element(a, b, m, n, has_c || has_bias, t);
      if (options.amax != nullptr)
        *options.amax = __builtin_fmaxf(*options.amax, detail::is_finite(v) ? __builtin_fabsf(v) : 0.0f);
      if constexpr (fp8_output) {
        using E = typename std::remove_cvref_t<decltype(d)>::element_type;
        d.codes()(m, n) = convert<E>(v / static_cast<float>(d.scales()(0, 0)));
      } else {
        using T = typename std::remove_cvref_t<decltype(d)>::value_type;
        d(m, n) = impl::rounded<T>(v);
      }
    }
  }
}

OFP8_ALGORITHMS_END
}  // namespace ofp8::reference
OFP8_STRICT_FP_END
