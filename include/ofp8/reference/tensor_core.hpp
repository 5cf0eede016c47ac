// SPDX-License-Identifier: Apache-2.0
// ofp8: what the GPU would have said. Tensor cores do not add in FP32: they align the products of a group to the largest
// exponent, cut them to a few fraction bits, add exactly, and write the sum truncated. One short function per
// instruction, and a GEMM on top.
//
//   float d = reference::tensor_core::ada_mma(a, b, c);                     // mma.sync.m16n8k32, one output, k = 32
//   reference::tensor_core::gemm_nt<reference::tensor_core::hopper>(aq, wq, d, reference::tensor_core::accumulation::promoted);
//
// Sources: MMA-Sim (arXiv 2511.10909), Khattak and Mikaitis (ACM TACO, doi 10.1145/3830409), whose hardware vectors the
// Ada and Hopper models reproduce bit for bit. Models whose truth is not known carry `experimental` in their name.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/reference/fma.hpp>
#include <ofp8/reference/gemm.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8::reference::tensor_core {
OFP8_ALGORITHMS_BEGIN

/// k of one FP8 instruction.
inline constexpr std::ptrdiff_t instruction_k = 32;

/// The NaN that tensor cores write.
inline constexpr std::uint32_t nan_bits = 0x7fff'ffffu;

namespace impl {

// A term of the sum: significand * 2^(exponent - 23). Significands are not normalised: that of a product of normals is in
// [1, 4), and subnormals keep their format's smallest exponent, because the hardware aligns by exponent fields.
struct term {
  std::int64_t significand;
  int exponent;
};

inline constexpr int term_fraction_bits = 23;

// Significand with `fraction_bits` bits behind the point, and the exponent field's exponent.
inline term split(const detail::unpacked& u, const format_spec& f, int fraction_bits) noexcept {
  const std::int64_t magnitude = static_cast<std::int64_t>(u.significand)
                                 << (fraction_bits - f.mantissa_bits);
  return {u.negative ? -magnitude : magnitude, u.exponent + f.mantissa_bits};
}

template <fp8_type EA, fp8_type EB>
term product(EA a, EB b) noexcept {
  constexpr int bits = 3;  // enough for both mantissas
  const term x = split(detail::unpack(a), EA::spec, bits);
  const term y = split(detail::unpack(b), EB::spec, bits);
  return {x.significand * y.significand * (std::int64_t{1} << (term_fraction_bits - 2 * bits)),
          x.exponent + y.exponent};
}

// Aligned to `exponent` with `fraction_bits` bits behind the point, toward zero.
inline std::int64_t aligned(const term& t, int exponent, int fraction_bits) noexcept {
  const int shift = exponent - t.exponent + term_fraction_bits - fraction_bits;
  const std::int64_t magnitude = t.significand < 0 ? -t.significand : t.significand;
  const std::int64_t cut = shift < 0 ? magnitude << -shift : shift > 62 ? 0 : magnitude >> shift;
  return t.significand < 0 ? -cut : cut;
}

// units * 2^exponent as a float with `fraction_bits` bits behind the point, toward zero. Zero is +0.
inline float truncated(std::int64_t units, int exponent, int fraction_bits) noexcept {
  if (units == 0) return 0.0f;
  const bool negative = units < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -units : units);
  const int leading = detail::highest_bit(magnitude) + exponent;
  const int unit = (leading > -126 ? leading : -126) - fraction_bits;
  const int shift = unit - exponent;
  const std::uint64_t kept = shift <= 0 ? magnitude : shift > 63 ? 0 : magnitude >> shift << shift;
  return detail::float_from_bits(detail::round_to(detail::float_spec, nonsaturating,
                                                  {negative, detail::number_class::finite, kept, exponent}));
}

// NaN and infinity by IEEE's rules: a NaN, infinity times zero, or infinities of both signs give NaN.
struct specials {
  bool nan = false, plus = false, minus = false;

  void add_infinity(bool negative) noexcept { (negative ? minus : plus) = true; }
  template <fp8_type EA, fp8_type EB>
  void look_at(EA a, EB b) noexcept {
    if (isfinite(a) && isfinite(b)) return;
    const bool zero = (isfinite(a) && float(a) == 0.0f) || (isfinite(b) && float(b) == 0.0f);
    if (isnan(a) || isnan(b) || zero) {
      nan = true;
    } else {
      add_infinity(signbit(a) != signbit(b));
    }
  }
  void look_at(float c) noexcept {
    if (detail::is_nan(c))
      nan = true;
    else if (!detail::is_finite(c))
      add_infinity(c < 0.0f);
  }
  bool any() const noexcept { return nan || plus || minus; }
  float value() const noexcept {
    if (nan || (plus && minus)) return detail::float_from_bits(nan_bits);
    return detail::float_from_bits(detail::float_infinity | (minus ? detail::float_sign : 0u));
  }
};

/// Which k of the instruction are added together: the k of group g are those with index(g, i), i < size.
struct contiguous_k {
  std::ptrdiff_t first;
  std::ptrdiff_t operator()(std::ptrdiff_t i) const noexcept { return first + i; }
};
struct k_pairs_mod_4 {  // k % 4 in {0, 1} or {2, 3}
  std::ptrdiff_t first;
  std::ptrdiff_t operator()(std::ptrdiff_t i) const noexcept { return i / 2 * 4 + first + i % 2; }
};

/// One group of the hardware: `size` products and c, aligned to the largest exponent with `kept` fraction bits, added
/// exactly, written with `written` fraction bits; every cut is toward zero.
template <fp8_type EA, fp8_type EB, class Index>
float group_sum(const EA* a, const EB* b, Index index, std::ptrdiff_t size, float c, int kept,
                int written) noexcept {
  specials special;
  special.look_at(c);
  for (std::ptrdiff_t i = 0; i < size; ++i) special.look_at(a[index(i)], b[index(i)]);
  if (special.any()) return special.value();

  term terms[33];
  int count = 0;
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const term t = product(a[index(i)], b[index(i)]);
    if (t.significand != 0) terms[count++] = t;
  }
  const term addend = split(detail::unpack(c), detail::float_spec, term_fraction_bits);
  if (addend.significand != 0) terms[count++] = addend;
  if (count == 0) return 0.0f;

  int exponent = terms[0].exponent;
  for (int i = 1; i < count; ++i) exponent = terms[i].exponent > exponent ? terms[i].exponent : exponent;
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += aligned(terms[i], exponent, kept);
  return truncated(sum, exponent - kept, written);
}

}  // namespace impl

/// Ada (sm_89): mma.sync.m16n8k32 with FP32 accumulators. Two groups of 16 products, 13 fraction bits; c joins the first
/// group, whose result joins the second. Equal to hardware vectors of RTX 1000 Ada and L40S.
template <fp8_type EA, fp8_type EB>
float ada_mma(const EA* a, const EB* b, float c) noexcept {
  const float half = impl::group_sum(a, b, impl::contiguous_k{0}, 16, c, 13, 13);
  return impl::group_sum(a, b, impl::contiguous_k{16}, 16, half, 13, 13);
}

/// Hopper (sm_90a): wgmma with k = 32 and FP32 accumulators. One group of 32 products and c, 13 fraction bits. Equal to
/// hardware vectors of H100 and H200, which have c = 0; that c joins the alignment is MMA-Sim's finding.
template <fp8_type EA, fp8_type EB>
float hopper_wgmma(const EA* a, const EB* b, float c) noexcept {
  return impl::group_sum(a, b, impl::contiguous_k{0}, 32, c, 13, 13);
}

/// mma.sync.m16n8k32 on sm_90 and sm_100, which run it as two FP16 products: groups of k % 4 in {0, 1} and {2, 3}, 25
/// fraction bits, c added last in FP32. Other models fit the public vectors as well: not to be relied on.
template <fp8_type EA, fp8_type EB>
float experimental_emulated_mma(const EA* a, const EB* b, float c) noexcept {
  const float half = impl::group_sum(a, b, impl::k_pairs_mod_4{0}, 16, 0.0f, 25, 23);
  const float sum = impl::group_sum(a, b, impl::k_pairs_mod_4{2}, 16, half, 25, 23);
  const float d = sum + c;
  return detail::is_nan(d) ? detail::float_from_bits(nan_bits) : d;
}

/// Blackwell tcgen05 kind::f8f6f4 and sm_120, as MMA-Sim describes them: one group of 32, 25 fraction bits, c in the
/// alignment. Never compared with hardware.
template <fp8_type EA, fp8_type EB>
float experimental_blackwell(const EA* a, const EB* b, float c) noexcept {
  return impl::group_sum(a, b, impl::contiguous_k{0}, 32, c, 25, 23);
}

/// The instructions as types, for the functions below.
struct ada {
  template <fp8_type EA, fp8_type EB>
  static float multiply(const EA* a, const EB* b, float c) noexcept {
    return ada_mma(a, b, c);
  }
};
struct hopper {
  template <fp8_type EA, fp8_type EB>
  static float multiply(const EA* a, const EB* b, float c) noexcept {
    return hopper_wgmma(a, b, c);
  }
};
struct experimental_emulated {
  template <fp8_type EA, fp8_type EB>
  static float multiply(const EA* a, const EB* b, float c) noexcept {
    return experimental_emulated_mma(a, b, c);
  }
};
struct experimental_blackwell_group {
  template <fp8_type EA, fp8_type EB>
  static float multiply(const EA* a, const EB* b, float c) noexcept {
    return experimental_blackwell(a, b, c);
  }
};

/// How instructions are chained along K.
enum class accumulation : std::uint8_t {
  fast,     ///< one chain over all of K, in the tensor core's accumulator
  promoted  ///< a new chain from zero every 128 of K, the chains added in FP32 (CUTLASS, DeepGEMM)
};

/// k after which a promoted chain starts anew.
inline constexpr std::ptrdiff_t promotion_interval = 128;

/// One chain from +0 over n codes; a tail shorter than an instruction is padded with zeros.
template <class Instruction, fp8_type EA, fp8_type EB>
float chain(const EA* a, const EB* b, std::ptrdiff_t n, float c = 0.0f) noexcept {
  std::ptrdiff_t k = 0;
  for (; n - k >= instruction_k; k += instruction_k) c = Instruction::multiply(a + k, b + k, c);
  if (k < n) {
    EA tail_a[instruction_k];
    EB tail_b[instruction_k];
    for (std::ptrdiff_t i = 0; i < instruction_k; ++i) {
      tail_a[i] = k + i < n ? a[k + i] : EA::from_bits(0);
      tail_b[i] = k + i < n ? b[k + i] : EB::from_bits(0);
    }
    c = Instruction::multiply(static_cast<const EA*>(tail_a), static_cast<const EB*>(tail_b), c);
  }
  return c;
}

/// sum_k a[k] b[k] over n codes as the instruction and the accumulation have it.
template <class Instruction, fp8_type EA, fp8_type EB>
float dot(const EA* a, const EB* b, std::ptrdiff_t n, accumulation mode) noexcept {
  if (mode == accumulation::fast) return chain<Instruction>(a, b, n);
  float sum = 0.0f;
  for (std::ptrdiff_t k = 0; k < n; k += promotion_interval) {
    const std::ptrdiff_t size = n - k < promotion_interval ? n - k : promotion_interval;
    const float part = chain<Instruction>(a + k, b + k, size);
    sum = sum + part;
  }
  return detail::is_nan(sum) ? detail::float_from_bits(nan_bits) : sum;
}

/// d[m,n] as reference::gemm_nt, with the sum of each scale segment taken by the tensor core: d is a matrix or view of
/// float, bf16 or fp16; both operands are FP8 with scales. Scales that vary along K force a new chain at each boundary
/// whatever the mode. The order is that of this loop, not of a particular GPU library. Throws shape_error.
template <class Instruction, scaled_operand A, scaled_operand B, class D>
void gemm_nt(const A& a_in, const B& b_in, D&& d_in, accumulation mode) {
  const detail::fp_environment_guard guard;
  const auto a = reference::impl::operand(a_in);
  const auto b = reference::impl::operand(b_in);
  const auto d = as_view(d_in);
  reference::impl::check_shapes("reference::tensor_core::gemm_nt", a, b, d, gemm_options<float>{});
  constexpr auto k_block_a = std::remove_cvref_t<decltype(a)>::k_block,
                 k_block_b = std::remove_cvref_t<decltype(b)>::k_block;
  const std::ptrdiff_t depth = a.depth();
  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      float v = 0.0f;
      for (std::ptrdiff_t begin = 0; begin < depth;) {
        const std::ptrdiff_t end_a = reference::impl::next_boundary(begin, k_block_a, depth);
        const std::ptrdiff_t end_b = reference::impl::next_boundary(begin, k_block_b, depth);
        const std::ptrdiff_t end = end_a < end_b ? end_a : end_b;
        const float part =
            dot<Instruction>(a.view.codes().row(m) + begin, b.view.codes().row(n) + begin, end - begin, mode);
        const float alpha = a.scale(m, begin) * b.scale(n, begin);
        v = k_block_a == 0 && k_block_b == 0 ? part * alpha : reference::impl::fma(part, alpha, v);
        begin = end;
      }
      using T = typename std::remove_cvref_t<decltype(d)>::value_type;
      d(m, n) = reference::impl::rounded<T>(v);
    }
  }
}

OFP8_ALGORITHMS_END
}  // namespace ofp8::reference::tensor_core
OFP8_STRICT_FP_END
