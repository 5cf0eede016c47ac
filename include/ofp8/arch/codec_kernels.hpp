// SPDX-License-Identifier: Apache-2.0
// ofp8: the contract between the operations and the instruction sets, codec half. One backend fills
// `row_kernels` and, per FP8 format, `codec_kernels`; nothing else of the codec knows about instruction sets.
//
// For every kernel: `n` is a count of elements, 0 allowed; pointers need the alignment of their element only;
// inputs and outputs do not overlap; no byte outside the operands is read or written; the caller has opened a
// fp_environment_guard; the result is the scalar specification's, bit for bit, whatever the input.
//
// Kernels that take `group` treat the row as consecutive groups of that many elements (the last one may be
// shorter): group i is elements [i * group, min(n, (i + 1) * group)). One group a row is group == n; group is
// at least 1.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/recipe.hpp>

namespace ofp8 {

/// A conversion policy as run-time constants, for a format whose kernels are chosen already.
struct encode_rule {
  std::uint32_t clamp;  ///< float bits: a larger finite magnitude is replaced by this one before rounding. It
                        ///< is the largest finite number (saturate) or the first one beyond it (nonfinite)
  std::uint8_t infinity;  ///< the code of +Inf; -Inf takes the sign bit too
  std::uint8_t nan;       ///< the code of NaN
  std::uint8_t nan_sign;  ///< 80: a negative NaN takes the sign bit; 00: it does not
  bool toward_zero;       ///< truncate instead of nearest even
};

namespace detail {

/// The first number beyond the largest finite one. Its code is the one that follows largest_code(), which is
/// infinity in ieee formats, NaN in "FN" and, with bit 7 set by the carry, NaN (80) in FNUZ: it rounds to
/// "nonfinite" by itself.
OFP8_INLINE constexpr std::uint32_t first_overflow(const format_spec& f) noexcept {
  const std::uint32_t code = f.largest_code() + 1;
  const int binade = static_cast<int>(code >> f.mantissa_bits) - f.bias;
  const std::uint32_t mantissa = code & (f.smallest_normal_code() - 1);
  return bits_of(power_of_two(binade)) | mantissa << (23 - f.mantissa_bits);
}

OFP8_INLINE constexpr encode_rule encode_rule_for(const format_spec& f, const policy& p) noexcept {
  return {.clamp = p.on_overflow == overflow_rule::saturate ? bits_of(widen(f, f.largest_code()))
                                                            : first_overflow(f),
          .infinity = static_cast<std::uint8_t>(overflow_code(f, p.on_infinity)),
          .nan = static_cast<std::uint8_t>(nan_code_of(f, p)),
          .nan_sign = static_cast<std::uint8_t>(p.nan_sign == nan_sign::keep ? f.sign_mask() : 0),
          .toward_zero = p.rounding == rounding_mode::toward_zero};
}

}  // namespace detail

/// How elements become codes: code = encode(round(x / operand or x * operand)). A NaN quotient takes the sign
/// of its x: what 0 / 0 gives differs between machines.
struct quantize_rule {
  /// What the quotient is rounded to before it is encoded (recipes that compute in the input's type).
  enum class quotient_type : std::uint8_t { f32, to_bf16, to_fp16 };

  encode_rule encode;
  bool divide;  ///< x / operand, one IEEE division; else x * operand, one IEEE product
  quotient_type quotient = quotient_type::f32;
  /// Of the rounded quotient. (Not a float to add: under -ffast-math the file that fills this in may take -0
  /// for +0.)
  minus_zero_rule on_minus_zero = minus_zero_rule::keep;
  /// The caller's word that no x is NaN and that no quotient rounds beyond the largest finite number. It
  /// changes no result, but saves kernels from looking.
  bool in_range = false;
};

/// Rows of 16- and 32-bit numbers.
struct row_kernels {
  void (*widen_bf16)(const bf16* x, std::ptrdiff_t n, float* out) noexcept;  ///< exact
  void (*widen_fp16)(const fp16* x, std::ptrdiff_t n, float* out) noexcept;  ///< exact
  /// Nearest even, subnormals kept, overflow to infinity, NaN canonical (7fc0, 7e00).
  void (*narrow_bf16)(const float* x, std::ptrdiff_t n, bf16* out) noexcept;
  void (*narrow_fp16)(const float* x, std::ptrdiff_t n, fp16* out) noexcept;
  /// A copy in which every NaN is 7fc00000.
  void (*canonical_f32)(const float* x, std::ptrdiff_t n, float* out) noexcept;
  /// amax[g] = max(amax[g], largest magnitude of group g that `rule` counts) as float bits, an integer
  /// maximum: a NaN that counts beats everything (which NaN is not specified). The caller initialises amax.
  /// Returns the largest magnitude of the row in the same way, whatever counts: above 7f7fffff there was an
  /// infinity or a NaN.
  std::uint32_t (*amax_f32)(const float* x, std::ptrdiff_t n, std::ptrdiff_t group, amax_rule rule,
                            std::uint32_t* amax) noexcept;
  std::uint32_t (*amax_bf16)(const bf16* x, std::ptrdiff_t n, std::ptrdiff_t group, amax_rule rule,
                             std::uint32_t* amax) noexcept;
  std::uint32_t (*amax_fp16)(const fp16* x, std::ptrdiff_t n, std::ptrdiff_t group, amax_rule rule,
                             std::uint32_t* amax) noexcept;
};

/// Rows of FP8 codes of one format.
template <fp8_type E>
struct codec_kernels {
  template <class In>
  using encode_fn = void (*)(const In* x, std::ptrdiff_t n, const encode_rule& rule, E* out) noexcept;
  template <class Out>
  using decode_fn = void (*)(const E* codes, std::ptrdiff_t n, Out* out) noexcept;
  template <class In>
  using quantize_fn = void (*)(const In* x, std::ptrdiff_t n, std::ptrdiff_t group, const float* operands,
                               const quantize_rule& rule, E* out, quantize_counts* counts) noexcept;
  template <class Out>
  using dequantize_fn = void (*)(const E* codes, std::ptrdiff_t n, std::ptrdiff_t group, const float* scales,
                                 Out* out) noexcept;

  encode_fn<float> encode_f32;
  encode_fn<bf16> encode_bf16;
  encode_fn<fp16> encode_fp16;

  /// Exact. NaN codes give sign | 7fc00000, 7fc0 or 7e00. E5M2 infinities stay infinities.
  decode_fn<float> decode_f32;
  decode_fn<bf16> decode_bf16;
  decode_fn<fp16> decode_fp16;

  /// Group g is divided by, or multiplied with, operands[g]. Where `counts` is given, adds to it: saturated
  /// (the quotient is finite beyond the rounding threshold of the largest number, or infinite), flushed
  /// (nonzero x, zero code), nan (a NaN quotient).
  quantize_fn<float> quantize_f32;
  quantize_fn<bf16> quantize_bf16;
  quantize_fn<fp16> quantize_fp16;

  /// One FP32 product code * scales[g], one rounding to the output type, NaN canonical.
  dequantize_fn<float> dequantize_f32;
  dequantize_fn<bf16> dequantize_bf16;
  dequantize_fn<fp16> dequantize_fp16;
};

namespace detail {

// The kernel of an element type.
template <class T, class F32, class Bf16, class Fp16>
OFP8_INLINE constexpr auto kernel_for(F32 f32, Bf16 bf16_kernel, Fp16 fp16_kernel) noexcept {
  if constexpr (std::same_as<T, float>) {
    return f32;
  } else if constexpr (std::same_as<T, bf16>) {
    return bf16_kernel;
  } else {
    static_assert(std::same_as<T, fp16>);
    return fp16_kernel;
  }
}

template <class In>
OFP8_INLINE constexpr auto amax_kernel(const row_kernels& k) noexcept {
  return kernel_for<In>(k.amax_f32, k.amax_bf16, k.amax_fp16);
}
template <class In, fp8_type E>
OFP8_INLINE constexpr auto encode_kernel(const codec_kernels<E>& k) noexcept {
  return kernel_for<In>(k.encode_f32, k.encode_bf16, k.encode_fp16);
}
template <class Out, fp8_type E>
OFP8_INLINE constexpr auto decode_kernel(const codec_kernels<E>& k) noexcept {
  return kernel_for<Out>(k.decode_f32, k.decode_bf16, k.decode_fp16);
}
template <class In, fp8_type E>
OFP8_INLINE constexpr auto quantize_kernel(const codec_kernels<E>& k) noexcept {
  return kernel_for<In>(k.quantize_f32, k.quantize_bf16, k.quantize_fp16);
}
template <class Out, fp8_type E>
OFP8_INLINE constexpr auto dequantize_kernel(const codec_kernels<E>& k) noexcept {
  return kernel_for<Out>(k.dequantize_f32, k.dequantize_bf16, k.dequantize_fp16);
}

}  // namespace detail
}  // namespace ofp8
