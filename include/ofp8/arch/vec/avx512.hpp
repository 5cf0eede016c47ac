// SPDX-License-Identifier: Apache-2.0
// ofp8: vectors of 512 bits, the vocabulary of kernels for AVX-512 F, BW, VL and DQ. arch/vec/avx2.hpp has the same
// names for 256 bits, so that the text of a kernel (arch/vec/*.inl) can serve both.
//
//   const u32v a = bits(load(x)) & splat(detail::float_magnitude);
//   const mask32 nan = above(a, splat(detail::float_infinity));
//   const f32v q = floats(a) / splat(scale);
//
// The arithmetic operators are the compiler's and not the intrinsics: arch/vec/avx2.hpp says why. Many intrinsics
// are called in their maskz_ form with a full mask: the plain form passes an undefined vector, which g++ 12 reports
// as -Wmaybe-uninitialized in the user's file. No mask is emitted.
#pragma once

#include <ofp8/core/config.hpp>

#if OFP8_X86_64

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include <ofp8/arch/vec/avx2.hpp>
#include <ofp8/arch/vec/quad.hpp>
#include <ofp8/core/float16.hpp>

#define OFP8_FEATURES_AVX512 OFP8_FEATURES_AVX2 ",avx512f,avx512bw,avx512vl,avx512dq"
#define OFP8_VEC512 __attribute__((target(OFP8_FEATURES_AVX512), always_inline)) inline

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::vec512 {

using detail::quad;

struct f32v {
  __m512 v;
};
struct u32v {
  __m512i v;
};
struct u16v {
  __m512i v;
};
struct u8v {
  __m512i v;
};
struct mask32 {  // of 32-bit lanes
  __mmask16 v;
};

inline constexpr std::ptrdiff_t lanes = 16;         // 32-bit numbers in a vector
inline constexpr std::ptrdiff_t block = 4 * lanes;  // numbers in a quad, bytes in a vector

inline constexpr __mmask8 all_8 = 0xff;
inline constexpr __mmask16 all_16 = 0xffff;
inline constexpr __mmask32 all_32 = 0xffff'ffff;
inline constexpr __mmask64 all_64 = ~__mmask64{0};

// --- floats --------------------------------------------------------------------------------------------------

OFP8_VEC512 f32v splat(float x) noexcept { return {_mm512_set1_ps(x)}; }
OFP8_VEC512 f32v operator+(f32v a, f32v b) noexcept { return {a.v + b.v}; }
OFP8_VEC512 f32v operator-(f32v a, f32v b) noexcept { return {a.v - b.v}; }
OFP8_VEC512 f32v operator*(f32v a, f32v b) noexcept { return {a.v * b.v}; }
OFP8_VEC512 f32v operator/(f32v a, f32v b) noexcept { return {a.v / b.v}; }

/// a * b + c, rounded once.
OFP8_VEC512 f32v fma(f32v a, f32v b, f32v c) noexcept {
#if !defined(__clang__)
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
#elif __has_builtin(__builtin_elementwise_fma)
  return {__builtin_elementwise_fma(a.v, b.v, c.v)};
#else
  return {__builtin_ia32_vfmaddps512_mask(a.v, b.v, c.v, all_16, _MM_FROUND_CUR_DIRECTION)};
#endif
}
/// c - a * b, rounded once.
OFP8_VEC512 f32v fnma(f32v a, f32v b, f32v c) noexcept { return fma({-a.v}, b, c); }

/// x itself, as a value of unknown origin: the compiler neither makes an fma of a product and the sum that it goes
/// into, nor moves a conversion to float behind a branch (clang 14 scalarizes a vector of halves that two paths lead
/// to).
OFP8_VEC512 f32v opaque(f32v x) noexcept {
  __asm__("" : "+v"(x.v));
  return x;
}

// --- 32-bit numbers ------------------------------------------------------------------------------------------

OFP8_VEC512 u32v splat(std::uint32_t x) noexcept { return {_mm512_set1_epi32(static_cast<int>(x))}; }
/// 0, 1, 2 ...
OFP8_VEC512 u32v lane_numbers() noexcept {
  return {_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
}
OFP8_VEC512 u32v bits(f32v x) noexcept { return {_mm512_castps_si512(x.v)}; }
OFP8_VEC512 f32v floats(u32v x) noexcept { return {_mm512_castsi512_ps(x.v)}; }

OFP8_VEC512 u32v operator&(u32v a, u32v b) noexcept { return {_mm512_and_si512(a.v, b.v)}; }
OFP8_VEC512 u32v operator|(u32v a, u32v b) noexcept { return {_mm512_or_si512(a.v, b.v)}; }
OFP8_VEC512 u32v operator+(u32v a, u32v b) noexcept { return {_mm512_add_epi32(a.v, b.v)}; }
OFP8_VEC512 u32v operator-(u32v a, u32v b) noexcept { return {_mm512_sub_epi32(a.v, b.v)}; }
OFP8_VEC512 u32v min(u32v a, u32v b) noexcept { return {_mm512_maskz_min_epu32(all_16, a.v, b.v)}; }
OFP8_VEC512 u32v max(u32v a, u32v b) noexcept { return {_mm512_maskz_max_epu32(all_16, a.v, b.v)}; }
template <int N>
OFP8_VEC512 u32v shift_left(u32v x) noexcept {
  return {_mm512_maskz_slli_epi32(all_16, x.v, N)};
}
template <int N>
OFP8_VEC512 u32v shift_right(u32v x) noexcept {
  return {_mm512_maskz_srli_epi32(all_16, x.v, N)};
}

OFP8_VEC512 u32v shift_left(u32v x, u32v n) noexcept { return {_mm512_maskz_sllv_epi32(all_16, x.v, n.v)}; }
OFP8_VEC512 u32v shift_right(u32v x, u32v n) noexcept { return {_mm512_maskz_srlv_epi32(all_16, x.v, n.v)}; }

/// a > b, of numbers below 2^31.
OFP8_VEC512 mask32 above(u32v a, u32v b) noexcept { return {_mm512_cmpgt_epi32_mask(a.v, b.v)}; }
OFP8_VEC512 mask32 equal(u32v a, u32v b) noexcept { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
OFP8_VEC512 mask32 operator&(mask32 a, mask32 b) noexcept { return {_kand_mask16(a.v, b.v)}; }
OFP8_VEC512 mask32 without(mask32 a, mask32 b) noexcept { return {_kandn_mask16(b.v, a.v)}; }
OFP8_VEC512 u32v select(mask32 m, u32v yes, u32v no) noexcept {
  return {_mm512_mask_mov_epi32(no.v, m.v, yes.v)};
}
OFP8_VEC512 bool any(mask32 m) noexcept { return _kortestz_mask16_u8(m.v, m.v) == 0; }
OFP8_VEC512 int count(mask32 m) noexcept { return __builtin_popcount(m.v); }

// One bit for each of the first n elements.
OFP8_VEC512 std::uint64_t first_bits(std::ptrdiff_t n) noexcept {
  return n <= 0 ? 0 : n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}
OFP8_VEC512 mask32 is_nan(f32v x) noexcept {
  return {_mm512_fpclass_ps_mask(x.v, 0x81)};
}  // quiet, signalling
/// The lanes before the n-th.
OFP8_VEC512 mask32 first_lanes(std::ptrdiff_t n) noexcept { return {static_cast<__mmask16>(first_bits(n))}; }

/// Of a table of 32, by the low 5 bits.
OFP8_VEC512 u32v look_up_32(u32v table_0, u32v table_1, u32v index) noexcept {
  return {_mm512_permutex2var_epi32(table_0.v, index.v, table_1.v)};
}

/// The largest lane.
OFP8_VEC512 std::uint32_t largest(u32v x) noexcept {
  const __m256i low = _mm512_maskz_extracti64x4_epi64(all_8, x.v, 0);
  const __m256i high = _mm512_maskz_extracti64x4_epi64(all_8, x.v, 1);
  return vec256::largest({_mm256_max_epu32(low, high)});
}

// Maxima of the halves of a and b, side by side, at four distances: of neighbours, of pairs, of 128-bit parts, of
// 256-bit halves.
OFP8_VEC512 __m512i larger(__m512i a, __m512i b) noexcept { return _mm512_maskz_max_epu32(all_16, a, b); }
OFP8_VEC512 __m512i fold_1(__m512i a, __m512i b) noexcept {
  return larger(_mm512_maskz_unpacklo_epi32(all_16, a, b), _mm512_maskz_unpackhi_epi32(all_16, a, b));
}
OFP8_VEC512 __m512i fold_2(__m512i a, __m512i b) noexcept {
  return larger(_mm512_maskz_unpacklo_epi64(all_8, a, b), _mm512_maskz_unpackhi_epi64(all_8, a, b));
}
template <int Even, int Odd>
OFP8_VEC512 __m512i fold_parts(__m512i a, __m512i b) noexcept {
  return larger(_mm512_maskz_shuffle_i32x4(all_16, a, b, Even),
                _mm512_maskz_shuffle_i32x4(all_16, a, b, Odd));
}
OFP8_VEC512 __m512i fold_square(const u32v* x) noexcept {
  return fold_2(fold_1(x[0].v, x[1].v), fold_1(x[2].v, x[3].v));
}
/// Lane i is the largest lane of x[i], for all 16: the transposition of a square that keeps maxima only.
OFP8_VEC512 u32v largest_of_each(const u32v* x) noexcept {
  // 128-bit part j of s[i]: of x[4 * i ..], the maxima over their part j.
  const __m512i s01 = fold_parts<0x88, 0xdd>(fold_square(x), fold_square(x + 4));
  const __m512i s23 = fold_parts<0x88, 0xdd>(fold_square(x + 8), fold_square(x + 12));
  return {fold_parts<0x88, 0xdd>(s01, s23)};
}

// --- 16-bit numbers ------------------------------------------------------------------------------------------

OFP8_VEC512 u16v splat(std::uint16_t x) noexcept { return {_mm512_set1_epi16(static_cast<short>(x))}; }
OFP8_VEC512 u16v operator&(u16v a, u16v b) noexcept { return {_mm512_and_si512(a.v, b.v)}; }
OFP8_VEC512 u16v max(u16v a, u16v b) noexcept { return {_mm512_maskz_max_epu16(all_32, a.v, b.v)}; }
/// The maxima of pairs, as 32-bit numbers.
OFP8_VEC512 u32v largest_of_pairs(u16v x) noexcept {
  return max(u32v{x.v} & splat(0xffffu), shift_right<16>(u32v{x.v}));
}
/// The upper halves of 32-bit numbers.
OFP8_VEC512 u16v upper_halves(u32v a, u32v b) noexcept {
  const __m512i order = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33,  //
                                         31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return {_mm512_permutex2var_epi16(a.v, order, b.v)};
}
/// Nearest even, whatever MXCSR says; subnormals are kept.
OFP8_VEC512 __m256i to_fp16(f32v x) noexcept {
  return _mm512_maskz_cvtps_ph(all_16, x.v, _MM_FROUND_TO_NEAREST_INT);
}
OFP8_VEC512 u16v to_fp16(f32v a, f32v b) noexcept {
  return {_mm512_maskz_inserti64x4(all_8, _mm512_castsi256_si512(to_fp16(a)), to_fp16(b), 1)};
}
OFP8_VEC512 f32v through_fp16(f32v x) noexcept { return {_mm512_maskz_cvtph_ps(all_16, to_fp16(x))}; }

// --- bytes ---------------------------------------------------------------------------------------------------

OFP8_VEC512 u8v splat(std::uint8_t x) noexcept { return {_mm512_set1_epi8(static_cast<char>(x))}; }
OFP8_VEC512 u8v operator&(u8v a, u8v b) noexcept { return {_mm512_and_si512(a.v, b.v)}; }
OFP8_VEC512 u8v operator|(u8v a, u8v b) noexcept { return {_mm512_or_si512(a.v, b.v)}; }
OFP8_VEC512 u8v operator^(u8v a, u8v b) noexcept { return {_mm512_xor_si512(a.v, b.v)}; }
OFP8_VEC512 u8v operator+(u8v a, u8v b) noexcept { return {_mm512_add_epi8(a.v, b.v)}; }
OFP8_VEC512 u8v operator-(u8v a, u8v b) noexcept { return {_mm512_sub_epi8(a.v, b.v)}; }
/// The pairs of bytes as 16-bit numbers, shifted.
OFP8_VEC512 u8v shift_words_left(u8v x, int n) noexcept {
  return {_mm512_maskz_sll_epi16(all_32, x.v, _mm_cvtsi32_si128(n))};
}
OFP8_VEC512 u8v shift_words_right(u8v x, int n) noexcept {
  return {_mm512_maskz_srl_epi16(all_32, x.v, _mm_cvtsi32_si128(n))};
}
/// Byte by byte, compared as signed numbers.
OFP8_VEC512 u8v select_above(u8v a, u8v b, u8v yes, u8v no) noexcept {
  return {_mm512_mask_mov_epi8(no.v, _mm512_cmpgt_epi8_mask(a.v, b.v), yes.v)};
}
OFP8_VEC512 u8v select_equal(u8v a, u8v b, u8v yes, u8v no) noexcept {
  return {_mm512_mask_mov_epi8(no.v, _mm512_cmpeq_epi8_mask(a.v, b.v), yes.v)};
}
/// x where y is not 0, else 0.
OFP8_VEC512 u8v where_nonzero(u8v y, u8v x) noexcept {
  return {_mm512_maskz_mov_epi8(_mm512_test_epi8_mask(y.v, y.v), x.v)};
}
OFP8_VEC512 u8v table_of_16(const std::uint8_t* bytes) noexcept {
  const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return {_mm512_maskz_broadcast_i32x4(all_16, t)};
}
/// table[x & 15], or 0 where x has bit 7.
OFP8_VEC512 u8v look_up_16(u8v table, u8v x) noexcept {
  return {_mm512_maskz_shuffle_epi8(all_64, table.v, x.v)};
}
/// a | (b & c)
OFP8_VEC512 u8v or_and(u8v a, u8v b, u8v c) noexcept {
  return {_mm512_maskz_ternarylogic_epi32(all_16, a.v, b.v, c.v, 0xf8)};
}

// --- narrowing and widening within 128 bits ------------------------------------------------------------------
//
// Bytes that were packed from four vectors of 32-bit numbers are `gathered` to their order; bytes that are `spread`
// first are interleaved to numbers in order.

/// To unsigned 16 bits, with saturation from below 2^31.
OFP8_VEC512 u16v pack_u32(u32v a, u32v b) noexcept { return {_mm512_maskz_packus_epi32(all_32, a.v, b.v)}; }
OFP8_VEC512 u8v pack_u16(u16v a, u16v b) noexcept { return {_mm512_maskz_packus_epi16(all_64, a.v, b.v)}; }
/// As signed numbers, with saturation: signs stay.
OFP8_VEC512 u16v pack_i32(u32v a, u32v b) noexcept { return {_mm512_maskz_packs_epi32(all_32, a.v, b.v)}; }
OFP8_VEC512 u8v pack_i16(u16v a, u16v b) noexcept { return {_mm512_maskz_packs_epi16(all_64, a.v, b.v)}; }
OFP8_VEC512 u8v transposed_4x4(u8v x) noexcept {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return {_mm512_maskz_permutexvar_epi32(all_16, order, x.v)};
}
OFP8_VEC512 u8v gathered(u8v x) noexcept { return transposed_4x4(x); }

OFP8_VEC512 u8v spread_to_16(u8v x) noexcept {
  const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  return {_mm512_maskz_permutexvar_epi64(all_8, order, x.v)};
}
OFP8_VEC512 u8v spread_to_32(u8v x) noexcept { return transposed_4x4(x); }
OFP8_VEC512 u16v interleave_low(u8v low, u8v high) noexcept {
  return {_mm512_maskz_unpacklo_epi8(all_64, low.v, high.v)};
}
OFP8_VEC512 u16v interleave_high(u8v low, u8v high) noexcept {
  return {_mm512_maskz_unpackhi_epi8(all_64, low.v, high.v)};
}
/// As the upper halves of 32-bit numbers.
OFP8_VEC512 u32v widen_low(u16v x) noexcept {
  return {_mm512_maskz_unpacklo_epi16(all_32, _mm512_setzero_si512(), x.v)};
}
OFP8_VEC512 u32v widen_high(u16v x) noexcept {
  return {_mm512_maskz_unpackhi_epi16(all_32, _mm512_setzero_si512(), x.v)};
}

// --- memory --------------------------------------------------------------------------------------------------

OFP8_VEC512 __m256i load_half(const void* p) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
OFP8_VEC512 __m256i load_first_half(const void* p, std::uint64_t elements) noexcept {
  return _mm256_maskz_loadu_epi16(static_cast<__mmask16>(elements), p);
}
OFP8_VEC512 f32v widen(const bf16*, __m256i x) noexcept {
  return floats(shift_left<16>(u32v{_mm512_maskz_cvtepu16_epi32(all_16, x)}));
}
OFP8_VEC512 f32v widen(const fp16*, __m256i x) noexcept { return opaque({_mm512_maskz_cvtph_ps(all_16, x)}); }

OFP8_VEC512 f32v load(const float* p) noexcept { return {_mm512_loadu_ps(p)}; }
OFP8_VEC512 f32v load(const bf16* p) noexcept { return widen(p, load_half(p)); }
OFP8_VEC512 f32v load(const fp16* p) noexcept { return widen(p, load_half(p)); }
OFP8_VEC512 u32v load(const std::uint32_t* p) noexcept { return {_mm512_loadu_si512(p)}; }
// 16-bit numbers from the `first`-th of 32 on, as the upper halves of 32 bits.
OFP8_VEC512 f32v widen_from(__m512i x, __m512i order) noexcept {
  return {_mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaa'aaaa, order, x))};
}
OFP8_VEC512 quad<f32v> load_quad(const bf16* p) noexcept {
  const __m512i low =
      _mm512_setr_epi32(0, 1 << 16, 2 << 16, 3 << 16, 4 << 16, 5 << 16, 6 << 16, 7 << 16, 8 << 16, 9 << 16,
                        10 << 16, 11 << 16, 12 << 16, 13 << 16, 14 << 16, 15 << 16);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(16 << 16));
  const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 32);
  return {widen_from(a, low), widen_from(a, high), widen_from(b, low), widen_from(b, high)};
}
template <class In>
OFP8_VEC512 quad<f32v> load_quad(const In* p) noexcept {
  return {load(p), load(p + lanes), load(p + 2 * lanes), load(p + 3 * lanes)};
}
OFP8_VEC512 u16v load_words(const void* p) noexcept { return {_mm512_loadu_si512(p)}; }
OFP8_VEC512 u8v load_bytes(const void* p) noexcept { return {_mm512_loadu_si512(p)}; }

OFP8_VEC512 void store(std::uint32_t* p, u32v x) noexcept { _mm512_storeu_si512(p, x.v); }
OFP8_VEC512 void store(float* p, f32v x) noexcept { _mm512_storeu_ps(p, x.v); }
OFP8_VEC512 void store(void* p, u16v x) noexcept { _mm512_storeu_si512(p, x.v); }
OFP8_VEC512 void store(void* p, u8v x) noexcept { _mm512_storeu_si512(p, x.v); }

// The first n elements only, 0 <= n, and zeros behind them. What a mask excludes is not touched, mapped or not.
OFP8_VEC512 f32v load_masked(const float* p, std::uint64_t elements) noexcept {
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>(elements), p)};
}
OFP8_VEC512 f32v load_masked(const bf16* p, std::uint64_t elements) noexcept {
  return widen(p, load_first_half(p, elements));
}
OFP8_VEC512 f32v load_masked(const fp16* p, std::uint64_t elements) noexcept {
  return widen(p, load_first_half(p, elements));
}
template <class In>
OFP8_VEC512 quad<f32v> load_quad_first(const In* p, std::ptrdiff_t n) noexcept {
  const std::uint64_t k = first_bits(n);
  return {load_masked(p, k), load_masked(p + lanes, k >> 16), load_masked(p + 2 * lanes, k >> 32),
          load_masked(p + 3 * lanes, k >> 48)};
}
OFP8_VEC512 f32v load_first(const float* p, std::ptrdiff_t n) noexcept {
  return load_masked(p, first_bits(n));
}
OFP8_VEC512 u32v load_first(const std::uint32_t* p, std::ptrdiff_t n) noexcept {
  return {_mm512_maskz_loadu_epi32(first_lanes(n).v, p)};
}
OFP8_VEC512 u16v load_first_words(const void* p, std::ptrdiff_t n) noexcept {
  return {_mm512_maskz_loadu_epi16(static_cast<__mmask32>(first_bits(n)), p)};
}
OFP8_VEC512 u8v load_first_bytes(const void* p, std::ptrdiff_t n) noexcept {
  return {_mm512_maskz_loadu_epi8(first_bits(n), p)};
}
OFP8_VEC512 void store_first(float* p, std::ptrdiff_t n, f32v v) noexcept {
  _mm512_mask_storeu_ps(p, first_lanes(n).v, v.v);
}
OFP8_VEC512 void store_first(std::uint32_t* p, std::ptrdiff_t n, u32v v) noexcept {
  _mm512_mask_storeu_epi32(p, first_lanes(n).v, v.v);
}
OFP8_VEC512 void store_first(void* p, std::ptrdiff_t n, u16v v) noexcept {
  _mm512_mask_storeu_epi16(p, static_cast<__mmask32>(first_bits(n)), v.v);
}
OFP8_VEC512 void store_first(void* p, std::ptrdiff_t n, u8v v) noexcept {
  _mm512_mask_storeu_epi8(p, first_bits(n), v.v);
}

}  // namespace impl::vec512
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END

#endif  // OFP8_X86_64
