// SPDX-License-Identifier: Apache-2.0
// ofp8: the codec kernels of the scalar backend (contract: arch/codec_kernels.hpp). Plain loops that
// compilers vectorize for whatever the file is compiled for. A format is run-time constants here, so the four
// formats share their loops.
//
//   impl::scalar::rows.amax_f32(x, n, n, amax_rule::finite_only, &amax);
//   impl::scalar::codec<e4m3>.encode_f32(x, n, rule, codes);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/rounding_constants.hpp>
#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/scale_step.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::scalar {

// Kernels with more than one pass work on chunks of this many floats: 2 KiB of stack, which stay in L1.
inline constexpr std::ptrdiff_t chunk = 512;

// Loops over a constant count are vectorized at -O2, too: hot rows go block by block.
inline constexpr std::ptrdiff_t block = 32;

template <bool TowardZero, class Code, class In>
OFP8_INLINE void round_elements(const In* __restrict x, std::ptrdiff_t n, const detail::rounding_constants& k,
                                Code* __restrict out) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i)
    out[i].code = static_cast<decltype(out[i].code)>(round_to_code<TowardZero>(load(x[i]), k));
}

// The constants are copied because the codes, bytes that may alias anything, would force a reload.
template <bool TowardZero, class Code, class In>
inline void round_row(const In* x, std::ptrdiff_t n, const detail::rounding_constants& constants,
                      Code* out) noexcept {
  const detail::rounding_constants k = constants;
  std::ptrdiff_t i = 0;
  for (; n - i >= block; i += block) round_elements<TowardZero>(x + i, block, k, out + i);
  round_elements<TowardZero>(x + i, n - i, k, out + i);
}

template <fp8_type E>
OFP8_INLINE detail::rounding_constants constants_of(const encode_rule& rule) noexcept {
  return detail::rounding_constants_for(E::spec, rule.clamp, rule.infinity, rule.nan, rule.nan_sign);
}

template <fp8_type E, class In>
inline void encode(const In* x, std::ptrdiff_t n, const encode_rule& rule, E* out) noexcept {
  if (rule.toward_zero)
    round_row<true>(x, n, constants_of<E>(rule), out);
  else
    round_row<false>(x, n, constants_of<E>(rule), out);
}

template <class In>
inline void widen(const In* __restrict x, std::ptrdiff_t n, float* __restrict out) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = load_float(x[i]);
}

OFP8_INLINE void canonical_elements(const float* __restrict x, std::ptrdiff_t n,
                                    float* __restrict out) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t bits = detail::bits_of(x[i]);
    const std::uint32_t nan = above(bits & detail::float_magnitude, detail::float_infinity);
    out[i] = detail::float_from_bits(select(nan, detail::float_quiet_nan, bits));
  }
}
inline void canonical(const float* x, std::ptrdiff_t n, float* out) noexcept {
  std::ptrdiff_t i = 0;
  for (; n - i >= block; i += block) canonical_elements(x + i, block, out + i);
  canonical_elements(x + i, n - i, out + i);
}

inline void narrow(const float* __restrict x, std::ptrdiff_t n, bf16* __restrict out) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i)
    out[i].code = static_cast<std::uint16_t>(round_to_bf16(detail::bits_of(x[i])));
}
inline void narrow(const float* x, std::ptrdiff_t n, fp16* out) noexcept {
  round_row<false>(x, n, fp16_rounding, out);
}

/// The value of each code in the bits of Out.
template <fp8_type E, class Out>
consteval std::array<Out, 256> make_decode_table() {
  std::array<Out, 256> table{};
  for (std::uint32_t code = 0; code < 256; ++code) {
    const std::uint32_t bits = detail::bits_of(detail::widen(E::spec, code));
    if constexpr (std::is_same_v<Out, float>) {
      table[code] = detail::float_from_bits(bits);
    } else if (E::spec.is_nan(code)) {
      const std::uint32_t quiet = Out::spec.infinity_code() | 1u << (Out::spec.mantissa_bits - 1);
      table[code] = Out::from_bits((bits & detail::float_sign) >> 16 | quiet);
    } else {
      table[code] = Out::from_bits(detail::round_to(Out::spec, nonsaturating, detail::unpack(E::spec, code)));
    }
  }
  return table;
}
template <fp8_type E, class Out>
inline constexpr std::array<Out, 256> decode_table = make_decode_table<E, Out>();

template <fp8_type E, class Out>
inline void decode(const E* __restrict codes, std::ptrdiff_t n, Out* __restrict out) noexcept {
  const Out* table = decode_table<E, Out>.data();
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = table[codes[i].code];
}

struct group_amax {
  std::uint32_t counted, any;
};
template <class In>
OFP8_INLINE group_amax amax_of_group(const In* x, std::ptrdiff_t n, std::uint32_t limit) noexcept {
  std::int32_t amax = 0, any = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t a = load(x[i]) & detail::float_magnitude;
    const auto magnitude = static_cast<std::int32_t>(a);
    const auto counted = static_cast<std::int32_t>(a & ~above(a, limit));
    any = magnitude > any ? magnitude : any;
    amax = counted > amax ? counted : amax;
  }
  return {static_cast<std::uint32_t>(amax), static_cast<std::uint32_t>(any)};
}

template <class In>
inline std::uint32_t amax(const In* x, std::ptrdiff_t n, std::ptrdiff_t group, amax_rule rule,
                          std::uint32_t* amax) noexcept {
  const std::uint32_t limit = detail::amax_limit(rule);
  std::uint32_t any = 0;
  for (std::ptrdiff_t begin = 0, g = 0; begin < n; begin += group, ++g) {
    const group_amax found = amax_of_group(x + begin, n - begin < group ? n - begin : group, limit);
    if (found.counted > amax[g]) amax[g] = found.counted;
    if (found.any > any) any = found.any;
  }
  return any;
}

/// Calls f(first, count, g) for the parts of [begin, end) that lie in one group each.
template <class F>
OFP8_INLINE void for_each_group(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t group,
                                F f) noexcept {
  for (std::ptrdiff_t i = begin, g = begin / group; i < end; ++g) {
    const std::ptrdiff_t left = end - i;
    const std::ptrdiff_t in_group = group - i % group;
    const std::ptrdiff_t count = left < in_group ? left : in_group;
    f(i, count, g);
    i += count;
  }
}

template <bool Divide, class In>
OFP8_INLINE void apply_elements(const In* __restrict x, std::ptrdiff_t n, float operand,
                                float* __restrict q) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i)
    q[i] = Divide ? load_float(x[i]) / operand : load_float(x[i]) * operand;
}
template <bool Divide, class In>
inline void apply(const In* x, std::ptrdiff_t n, float operand, float* q) noexcept {
  std::ptrdiff_t i = 0;
  for (; n - i >= block; i += block) apply_elements<Divide>(x + i, block, operand, q + i);
  apply_elements<Divide>(x + i, n - i, operand, q + i);
}

inline void round_quotients_to_bf16(float* q, std::ptrdiff_t n) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i)
    q[i] = detail::float_from_bits(round_to_bf16(detail::bits_of(q[i])) << 16);
}
inline void round_quotients_to_fp16(float* q, std::ptrdiff_t n) noexcept {
  const detail::rounding_constants k = fp16_rounding;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t code = round_to_code<false>(detail::bits_of(q[i]), k);
    q[i] = load_float(fp16::from_bits(code));
  }
}
inline void drop_minus_zeros(float* q, std::ptrdiff_t n) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t bits = detail::bits_of(q[i]);
    q[i] = detail::float_from_bits(bits & ~mask(bits == detail::float_sign));
  }
}

// A NaN quotient takes the sign of its x: what the hardware gives for 0 / 0 differs between machines.
template <class In>
inline void sign_nans(const In* __restrict x, std::ptrdiff_t n, float* __restrict q) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t bits = detail::bits_of(q[i]);
    const std::uint32_t nan = above(bits & detail::float_magnitude, detail::float_infinity);
    const std::uint32_t signed_nan = detail::float_quiet_nan | (load(x[i]) & detail::float_sign);
    q[i] = detail::float_from_bits(select(nan, signed_nan, bits));
  }
}

template <class In>
inline void count(const In* __restrict x, const float* __restrict q, std::ptrdiff_t n,
                  const detail::count_thresholds& limits, quantize_counts& counts) noexcept {
  std::uint32_t saturated = 0, flushed = 0, nans = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t a = detail::bits_of(q[i]) & detail::float_magnitude;
    const std::uint32_t nan = above(a, detail::float_infinity);
    const std::uint32_t nonzero = above(load(x[i]) & detail::float_magnitude, 0);
    nans += nan & 1u;
    saturated += above(a, limits.saturated_above) & ~nan & 1u;
    flushed += ~above(a, limits.flushed_up_to) & nonzero & 1u;
  }
  counts.saturated += saturated;
  counts.flushed += flushed;
  counts.nan += nans;
}

/// q = what is encoded: the quotient, rounded to a 16-bit type where the recipe computes in it.
template <class In>
inline void quotients(const In* x, std::ptrdiff_t n, float operand, const quantize_rule& rule,
                      float* q) noexcept {
  if (rule.divide)
    apply<true>(x, n, operand, q);
  else
    apply<false>(x, n, operand, q);
  if (rule.quotient == quantize_rule::quotient_type::to_bf16) round_quotients_to_bf16(q, n);
  if (rule.quotient == quantize_rule::quotient_type::to_fp16) round_quotients_to_fp16(q, n);
  if (rule.on_minus_zero == minus_zero_rule::drop) drop_minus_zeros(q, n);
  if (rule.encode.nan_sign != 0) sign_nans(x, n, q);
}

template <fp8_type E, class In>
inline void quantize(const In* x, std::ptrdiff_t n, std::ptrdiff_t group, const float* operands,
                     const quantize_rule& rule, E* out, quantize_counts* counts) noexcept {
  float q[chunk];
  for (std::ptrdiff_t begin = 0; begin < n; begin += chunk) {
    const std::ptrdiff_t size = n - begin < chunk ? n - begin : chunk;
    for_each_group(begin, begin + size, group,
                   [&](std::ptrdiff_t i, std::ptrdiff_t length, std::ptrdiff_t g) {
                     quotients(x + i, length, operands[g], rule, q + (i - begin));
                   });
    encode(static_cast<const float*>(q), size, rule.encode, out + begin);
    if (counts != nullptr)
      count(x + begin, q, size, detail::count_thresholds_for(E::spec, rule.encode.toward_zero), *counts);
  }
}

inline void scale(float* v, std::ptrdiff_t n, float s) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t bits = detail::bits_of(v[i] * s);
    const std::uint32_t nan = above(bits & detail::float_magnitude, detail::float_infinity);
    v[i] = detail::float_from_bits(select(nan, detail::float_quiet_nan, bits));
  }
}

template <fp8_type E, class Out>
inline void dequantize(const E* codes, std::ptrdiff_t n, std::ptrdiff_t group, const float* scales,
                       Out* out) noexcept {
  float buffer[chunk];
  for (std::ptrdiff_t begin = 0; begin < n; begin += chunk) {
    const std::ptrdiff_t size = n - begin < chunk ? n - begin : chunk;
    float* v = buffer;
    if constexpr (std::is_same_v<Out, float>) v = out + begin;
    decode(codes + begin, size, v);
    for_each_group(begin, begin + size, group,
                   [&](std::ptrdiff_t i, std::ptrdiff_t length, std::ptrdiff_t g) {
                     scale(v + (i - begin), length, scales[g]);
                   });
    if constexpr (!std::is_same_v<Out, float>) narrow(v, size, out + begin);
  }
}

inline constexpr row_kernels rows{
    .widen_bf16 = &widen<bf16>,
    .widen_fp16 = &widen<fp16>,
    .narrow_bf16 = &narrow,
    .narrow_fp16 = &narrow,
    .canonical_f32 = &canonical,
    .amax_f32 = &amax<float>,
    .amax_bf16 = &amax<bf16>,
    .amax_fp16 = &amax<fp16>,
};

template <fp8_type E>
inline constexpr codec_kernels<E> codec{
    .encode_f32 = &encode<E, float>,
    .encode_bf16 = &encode<E, bf16>,
    .encode_fp16 = &encode<E, fp16>,
    .decode_f32 = &decode<E, float>,
    .decode_bf16 = &decode<E, bf16>,
    .decode_fp16 = &decode<E, fp16>,
    .quantize_f32 = &quantize<E, float>,
    .quantize_bf16 = &quantize<E, bf16>,
    .quantize_fp16 = &quantize<E, fp16>,
    .dequantize_f32 = &dequantize<E, float>,
    .dequantize_bf16 = &dequantize<E, bf16>,
    .dequantize_fp16 = &dequantize<E, fp16>,
};

}  // namespace impl::scalar
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
