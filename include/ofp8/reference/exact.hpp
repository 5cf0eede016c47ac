// SPDX-License-Identifier: Apache-2.0
// ofp8: the true answer. FP8 products are integers in a common unit, so a dot product is an integer sum, rounded once;
// gemm_nt_exact does so for a whole scaled GEMM, scales, addend and bias included.
//
//   auto sum = reference::exact_dot(a, b, k);                  // sum.units * 2^sum.exponent, no rounding
//   reference::gemm_nt_exact(aq, wq, d);                       // d in double, float, bf16, fp16 or FP8
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/reference/exact_accumulator.hpp>
#include <ofp8/reference/gemm.hpp>

namespace ofp8::reference {
OFP8_ALGORITHMS_BEGIN

/// Bits of a finite number of the format in units of its smallest subnormal: 18 for E4M3 (448 / 2^-9 = 229,376 < 2^18),
/// 32 for E5M2 (57344 / 2^-16 = 3,758,096,384 < 2^32).
consteval int lattice_bits(const format_spec& f) { return f.max_exponent() - f.quantum_exponent() + 1; }

/// How many products of EA and EB a 64-bit sum holds: each is below 2^(bits of A + bits of B) in magnitude, so 2^(63 -
/// that) of them stay below 2^63. E4M3 x E4M3: 2^27 = 134,217,728; E4M3 x E5M2: 2^13 = 8,192; E5M2 x E5M2: none.
template <fp8_type EA, fp8_type EB>
inline constexpr std::int64_t products_in_64_bits = lattice_bits(EA::spec) + lattice_bits(EB::spec) >= 63
                                                        ? 0
                                                        : std::int64_t{1} << (63 - lattice_bits(EA::spec) -
                                                                              lattice_bits(EB::spec));

/// A dot product without any rounding: units * 2^exponent, or a special value. 128 bits hold 2^61 products of E5M2
/// (2^32 * 2^32 * 2^61 < 2^127; FNUZ: 2^33, 2^59).
struct exact_sum {
  int128 units = 0;
  int exponent = 0;
  bool is_nan = false;
  bool plus_infinity = false;
  bool minus_infinity = false;
};

namespace impl {

// x in units of the format's smallest subnormal; x is finite.
template <fp8_type E>
std::int64_t lattice_units(E x) noexcept {
  const detail::unpacked u = detail::unpack(x);
  const auto magnitude =
      static_cast<std::int64_t>(u.significand << (u.exponent - E::spec.quantum_exponent()));
  return u.negative ? -magnitude : magnitude;
}

template <fp8_type EA, fp8_type EB>
void add_special(exact_sum& sum, EA a, EB b) noexcept {
  const bool zero = (isfinite(a) && lattice_units(a) == 0) || (isfinite(b) && lattice_units(b) == 0);
  if (isnan(a) || isnan(b) || zero) {
    sum.is_nan = true;
  } else {
    (signbit(a) != signbit(b) ? sum.minus_infinity : sum.plus_infinity) = true;
  }
}

// The sum of a chunk in 64 bits where they hold it, in 128 elsewhere.
template <class Integer, fp8_type EA, fp8_type EB>
Integer chunk_sum(const EA* a, const EB* b, std::int64_t n, exact_sum& sum) noexcept {
  Integer units = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    if (isfinite(a[k]) && isfinite(b[k])) {
      units += static_cast<Integer>(lattice_units(a[k])) * static_cast<Integer>(lattice_units(b[k]));
    } else {
      add_special(sum, a[k], b[k]);
    }
  }
  return units;
}

}  // namespace impl

/// sum_k a[k] b[k] over n codes, exactly. E5M2 infinities and NaNs follow IEEE (Inf * 0 and Inf - Inf are NaN).
template <fp8_type EA, fp8_type EB>
exact_sum exact_dot(const EA* a, const EB* b, std::ptrdiff_t n) noexcept {
  exact_sum sum;
  sum.exponent = EA::spec.quantum_exponent() + EB::spec.quantum_exponent();
  constexpr std::int64_t fits = products_in_64_bits<EA, EB>;
  if constexpr (fits == 0) {
    sum.units = impl::chunk_sum<int128>(a, b, n, sum);
  } else {
    for (std::ptrdiff_t k = 0; k < n; k += fits) {
      const std::ptrdiff_t size = n - k < fits ? n - k : fits;
      sum.units += impl::chunk_sum<std::int64_t>(a + k, b + k, size, sum);
    }
  }
  if (sum.plus_infinity && sum.minus_infinity) sum.is_nan = true;
  return sum;
}

namespace impl {

template <class A, class B>
void add_segment(exact_accumulator& v, const A& a, const B& b, std::ptrdiff_t m, std::ptrdiff_t n,
                 std::ptrdiff_t begin, std::ptrdiff_t end) noexcept {
  const float sa = a.scale(m, begin), sb = b.scale(n, begin);
  for (std::ptrdiff_t k = begin; k < end; ++k) v.add_product(a.value(m, k), b.value(n, k), sa, sb);
}

// Two FP8 operands: one integer sum per segment. A special value in it goes through the general path.
template <class EA, class GA, class EB, class GB>
void add_segment(exact_accumulator& v, const scaled_operand<EA, GA>& a, const scaled_operand<EB, GB>& b,
                 std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t begin, std::ptrdiff_t end) noexcept {
  const float sa = a.scale(m, begin), sb = b.scale(n, begin);
  const exact_sum sum = exact_dot(a.view.codes().row(m) + begin, b.view.codes().row(n) + begin, end - begin);
  if (sum.is_nan || sum.plus_infinity || sum.minus_infinity) {
    for (std::ptrdiff_t k = begin; k < end; ++k) v.add_product(a.value(m, k), b.value(n, k), sa, sb);
  } else {
    v.add_scaled(sum.units, sum.exponent, sa, sb);
  }
}

template <class A, class B>
exact_accumulator exact_element(const A& a, const B& b, std::ptrdiff_t m, std::ptrdiff_t n) noexcept {
  exact_accumulator v;
  for (std::ptrdiff_t begin = 0; begin < a.depth();) {
    const std::ptrdiff_t end_a = next_boundary(begin, A::k_block, a.depth());
    const std::ptrdiff_t end_b = next_boundary(begin, B::k_block, a.depth());
    const std::ptrdiff_t end = end_a < end_b ? end_a : end_b;
    add_segment(v, a, b, m, n, begin, end);
    begin = end;
  }
  return v;
}

}  // namespace impl

/// d[m,n] = C[m,n] + bias[n] + sum_k sa a[m,k] sb b[n,k] as a real number, rounded once to D's type: double, float, bf16,
/// fp16, or FP8 codes with a scale of their own (divided by it first, exactly). An exact zero is +0. Operands and errors
/// as reference::gemm_nt. O(M N K) integer operations.
template <class A, class B, class D>
void gemm_nt_exact(const A& a_in, const B& b_in, D&& d_in, const gemm_options<addend_of<D>>& options = {}) {
  const auto a = impl::operand(a_in);
  const auto b = impl::operand(b_in);
  const auto d = impl::output(d_in);
  impl::check_shapes("reference::gemm_nt_exact", a, b, d, options);
  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      exact_accumulator v = impl::exact_element(a, b, m, n);
      if (options.addend.data() != nullptr) v.add(static_cast<float>(options.addend(m, n)));
      if (!options.bias.empty()) v.add(options.bias[static_cast<std::size_t>(n)]);
      using View = std::remove_cvref_t<decltype(d)>;
      if constexpr (requires { d.scales(); }) {
        d.codes()(m, n) = v.template quotient<typename View::code>(static_cast<float>(d.scales()(0, 0)));
      } else {
        d(m, n) = v.template rounded<typename View::value_type>();
      }
    }
  }
}

OFP8_ALGORITHMS_END
}  // namespace ofp8::reference
