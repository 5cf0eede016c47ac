// SPDX-License-Identifier: Apache-2.0
// ofp8: vectors of 256 bits, the vocabulary of kernels for AVX2, FMA and F16C. arch/vec/avx512.hpp has the same
// names for 512 bits, so that the text of a kernel (arch/vec/*.inl) can serve both.
//
//   const u32v a = bits(load(x)) & splat(detail::float_magnitude);
//   const mask32 nan = above(a, splat(detail::float_infinity));
//   const f32v q = floats(a) / splat(scale);
//
// The arithmetic operators are the compiler's and not the intrinsics: clang compiles the intrinsics' inline
// wrappers with the file's options, and under -ffast-math a division becomes a product with a reciprocal.
#pragma once

#include <ofp8/core/config.hpp>

#if OFP8_X86_64

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include <ofp8/arch/vec/quad.hpp>
#include <ofp8/core/float16.hpp>

// A plain list of features and never `arch=`, which fails under the user's -march.
#define OFP8_FEATURES_AVX2 "avx2,fma,f16c"
#define OFP8_VEC256 __attribute__((target(OFP8_FEATURES_AVX2), always_inline)) inline

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::vec256 {

using detail::quad;

struct f32v {
  __m256 v;
};
struct u32v {
  __m256i v;
};
struct u16v {
  __m256i v;
};
struct u8v {
  __m256i v;
};
struct mask32 {  // of 32-bit lanes
  __m256i v;
};

inline constexpr std::ptrdiff_t lanes = 8;          // 32-bit numbers in a vector
inline constexpr std::ptrdiff_t block = 4 * lanes;  // numbers in a quad, bytes in a vector

// --- floats --------------------------------------------------------------------------------------------------

OFP8_VEC256 f32v splat(float x) noexcept { return {_mm256_set1_ps(x)}; }
OFP8_VEC256 f32v operator+(f32v a, f32v b) noexcept { return {a.v + b.v}; }
OFP8_VEC256 f32v operator-(f32v a, f32v b) noexcept { return {a.v - b.v}; }
OFP8_VEC256 f32v operator*(f32v a, f32v b) noexcept { return {a.v * b.v}; }
OFP8_VEC256 f32v operator/(f32v a, f32v b) noexcept { return {a.v / b.v}; }

/// a * b + c, rounded once.
OFP8_VEC256 f32v fma(f32v a, f32v b, f32v c) noexcept {
#if !defined(__clang__)
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
#elif __has_builtin(__builtin_elementwise_fma)
  return {__builtin_elementwise_fma(a.v, b.v, c.v)};
#else
  return {__builtin_ia32_vfmaddps256(a.v, b.v, c.v)};
#endif
}
/// c - a * b, rounded once.
OFP8_VEC256 f32v fnma(f32v a, f32v b, f32v c) noexcept { return fma({-a.v}, b, c); }

/// x itself, as a value of unknown origin: the compiler neither makes an fma of a product and the sum that it goes
/// into, nor moves a conversion to float behind a branch (clang 14 scalarizes a vector of halves that two paths lead
/// to).
OFP8_VEC256 f32v opaque(f32v x) noexcept {
  __asm__("" : "+x"(x.v));
  return x;
}

// --- 32-bit numbers ------------------------------------------------------------------------------------------

OFP8_VEC256 u32v splat(std::uint32_t x) noexcept { return {_mm256_set1_epi32(static_cast<int>(x))}; }
OFP8_VEC256 u32v bits(f32v x) noexcept { return {_mm256_castps_si256(x.v)}; }
OFP8_VEC256 f32v floats(u32v x) noexcept { return {_mm256_castsi256_ps(x.v)}; }

OFP8_VEC256 u32v operator&(u32v a, u32v b) noexcept { return {_mm256_and_si256(a.v, b.v)}; }
OFP8_VEC256 u32v operator|(u32v a, u32v b) noexcept { return {_mm256_or_si256(a.v, b.v)}; }
OFP8_VEC256 u32v operator+(u32v a, u32v b) noexcept { return {_mm256_add_epi32(a.v, b.v)}; }
OFP8_VEC256 u32v operator-(u32v a, u32v b) noexcept { return {_mm256_sub_epi32(a.v, b.v)}; }
OFP8_VEC256 u32v min(u32v a, u32v b) noexcept { return {_mm256_min_epu32(a.v, b.v)}; }
OFP8_VEC256 u32v max(u32v a, u32v b) noexcept { return {_mm256_max_epu32(a.v, b.v)}; }
template <int N>
OFP8_VEC256 u32v shift_left(u32v x) noexcept {
  return {_mm256_slli_epi32(x.v, N)};
}
template <int N>
OFP8_VEC256 u32v shift_right(u32v x) noexcept {
  return {_mm256_srli_epi32(x.v, N)};
}

OFP8_VEC256 u32v shift_right(u32v x, u32v n) noexcept { return {_mm256_srlv_epi32(x.v, n.v)}; }

/// a > b, of numbers below 2^31.
OFP8_VEC256 mask32 above(u32v a, u32v b) noexcept { return {_mm256_cmpgt_epi32(a.v, b.v)}; }
OFP8_VEC256 mask32 equal(u32v a, u32v b) noexcept { return {_mm256_cmpeq_epi32(a.v, b.v)}; }
OFP8_VEC256 mask32 operator&(mask32 a, mask32 b) noexcept { return {_mm256_and_si256(a.v, b.v)}; }
OFP8_VEC256 mask32 without(mask32 a, mask32 b) noexcept { return {_mm256_andnot_si256(b.v, a.v)}; }
OFP8_VEC256 u32v select(mask32 m, u32v yes, u32v no) noexcept {
  return {_mm256_blendv_epi8(no.v, yes.v, m.v)};
}
OFP8_VEC256 bool any(mask32 m) noexcept { return _mm256_testz_si256(m.v, m.v) == 0; }
OFP8_VEC256 int count(mask32 m) noexcept {
  return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(m.v))));
}
OFP8_VEC256 mask32 is_nan(f32v x) noexcept {
  return above(bits(x) & splat(0x7fff'ffffu), splat(0x7f80'0000u));
}
/// The lanes before the n-th.
OFP8_VEC256 mask32 first_lanes(std::ptrdiff_t n) noexcept {
  const int limit = n < 0 ? 0 : static_cast<int>(n < lanes ? n : lanes);
  return {_mm256_cmpgt_epi32(_mm256_set1_epi32(limit), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))};
}

/// The largest lane.
OFP8_VEC256 std::uint32_t largest(u32v x) noexcept {
  __m128i m = _mm_max_epu32(_mm256_castsi256_si128(x.v), _mm256_extracti128_si256(x.v, 1));
  m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(m));
}

// Maxima of the halves of a and b, side by side, at three distances: of neighbours, of pairs, of 128-bit halves.
OFP8_VEC256 __m256i fold_1(__m256i a, __m256i b) noexcept {
  return _mm256_max_epu32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}
OFP8_VEC256 __m256i fold_2(__m256i a, __m256i b) noexcept {
  return _mm256_max_epu32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}
OFP8_VEC256 __m256i fold_4(__m256i a, __m256i b) noexcept {
  return _mm256_max_epu32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}
/// Lane i is the largest lane of x[i], for all 8: the transposition of a square that keeps maxima only.
OFP8_VEC256 u32v largest_of_each(const u32v* x) noexcept {
  const __m256i low = fold_2(fold_1(x[0].v, x[1].v), fold_1(x[2].v, x[3].v));
  const __m256i high = fold_2(fold_1(x[4].v, x[5].v), fold_1(x[6].v, x[7].v));
  return {fold_4(low, high)};
}

// --- 16-bit numbers ------------------------------------------------------------------------------------------

OFP8_VEC256 u16v splat(std::uint16_t x) noexcept { return {_mm256_set1_epi16(static_cast<short>(x))}; }
OFP8_VEC256 u16v operator&(u16v a, u16v b) noexcept { return {_mm256_and_si256(a.v, b.v)}; }
OFP8_VEC256 u16v max(u16v a, u16v b) noexcept { return {_mm256_max_epu16(a.v, b.v)}; }
/// The maxima of pairs, as 32-bit numbers.
OFP8_VEC256 u32v largest_of_pairs(u16v x) noexcept {
  return max(u32v{x.v} & splat(0xffffu), shift_right<16>(u32v{x.v}));
}
/// The upper halves of 32-bit numbers.
OFP8_VEC256 u16v upper_halves(u32v a, u32v b) noexcept {
  const __m256i within_lanes = _mm256_packus_epi32(shift_right<16>(a).v, shift_right<16>(b).v);
  return {_mm256_permute4x64_epi64(within_lanes, 0xd8)};
}
/// Nearest even, whatever MXCSR says; subnormals are kept.
OFP8_VEC256 u16v to_fp16(f32v a, f32v b) noexcept {
  const __m128i low = _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT);
  const __m128i high = _mm256_cvtps_ph(b.v, _MM_FROUND_TO_NEAREST_INT);
  return {_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)};
}
OFP8_VEC256 f32v through_fp16(f32v x) noexcept {
  return {_mm256_cvtph_ps(_mm256_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT))};
}

// --- bytes ---------------------------------------------------------------------------------------------------

OFP8_VEC256 u8v splat(std::uint8_t x) noexcept { return {_mm256_set1_epi8(static_cast<char>(x))}; }
OFP8_VEC256 u8v operator&(u8v a, u8v b) noexcept { return {_mm256_and_si256(a.v, b.v)}; }
OFP8_VEC256 u8v operator|(u8v a, u8v b) noexcept { return {_mm256_or_si256(a.v, b.v)}; }
OFP8_VEC256 u8v operator^(u8v a, u8v b) noexcept { return {_mm256_xor_si256(a.v, b.v)}; }
OFP8_VEC256 u8v operator+(u8v a, u8v b) noexcept { return {_mm256_add_epi8(a.v, b.v)}; }
OFP8_VEC256 u8v operator-(u8v a, u8v b) noexcept { return {_mm256_sub_epi8(a.v, b.v)}; }
/// The pairs of bytes as 16-bit numbers, shifted.
OFP8_VEC256 u8v shift_words_left(u8v x, int n) noexcept {
  return {_mm256_sll_epi16(x.v, _mm_cvtsi32_si128(n))};
}
OFP8_VEC256 u8v shift_words_right(u8v x, int n) noexcept {
  return {_mm256_srl_epi16(x.v, _mm_cvtsi32_si128(n))};
}
/// Byte by byte, compared as signed numbers.
OFP8_VEC256 u8v select_above(u8v a, u8v b, u8v yes, u8v no) noexcept {
  return {_mm256_blendv_epi8(no.v, yes.v, _mm256_cmpgt_epi8(a.v, b.v))};
}
OFP8_VEC256 u8v select_equal(u8v a, u8v b, u8v yes, u8v no) noexcept {
  return {_mm256_blendv_epi8(no.v, yes.v, _mm256_cmpeq_epi8(a.v, b.v))};
}
/// x where y is not 0, else 0.
OFP8_VEC256 u8v where_nonzero(u8v y, u8v x) noexcept {
  return {_mm256_andnot_si256(_mm256_cmpeq_epi8(y.v, _mm256_setzero_si256()), x.v)};
}
OFP8_VEC256 u8v table_of_16(const std::uint8_t* bytes) noexcept {
  return {_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)))};
}
/// table[x & 15], or 0 where x has bit 7.
OFP8_VEC256 u8v look_up_16(u8v table, u8v x) noexcept { return {_mm256_shuffle_epi8(table.v, x.v)}; }
/// a | (b & c)
OFP8_VEC256 u8v or_and(u8v a, u8v b, u8v c) noexcept { return a | (b & c); }

// --- narrowing and widening within 128 bits ------------------------------------------------------------------
//
// Bytes that were packed from four vectors of 32-bit numbers are `gathered` to their order; bytes that are `spread`
// first are interleaved to numbers in order.

/// To unsigned 16 bits, with saturation from below 2^31.
OFP8_VEC256 u16v pack_u32(u32v a, u32v b) noexcept { return {_mm256_packus_epi32(a.v, b.v)}; }
OFP8_VEC256 u8v pack_u16(u16v a, u16v b) noexcept { return {_mm256_packus_epi16(a.v, b.v)}; }
/// As signed numbers, with saturation: signs stay.
OFP8_VEC256 u16v pack_i32(u32v a, u32v b) noexcept { return {_mm256_packs_epi32(a.v, b.v)}; }
OFP8_VEC256 u8v pack_i16(u16v a, u16v b) noexcept { return {_mm256_packs_epi16(a.v, b.v)}; }
OFP8_VEC256 u8v gathered(u8v x) noexcept {
  return {_mm256_permutevar8x32_epi32(x.v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))};
}

OFP8_VEC256 u8v spread_to_16(u8v x) noexcept { return {_mm256_permute4x64_epi64(x.v, 0xd8)}; }
OFP8_VEC256 u8v spread_to_32(u8v x) noexcept {
  return {_mm256_permutevar8x32_epi32(x.v, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7))};
}
OFP8_VEC256 u16v interleave_low(u8v low, u8v high) noexcept { return {_mm256_unpacklo_epi8(low.v, high.v)}; }
OFP8_VEC256 u16v interleave_high(u8v low, u8v high) noexcept { return {_mm256_unpackhi_epi8(low.v, high.v)}; }
/// As the upper halves of 32-bit numbers.
OFP8_VEC256 u32v widen_low(u16v x) noexcept { return {_mm256_unpacklo_epi16(_mm256_setzero_si256(), x.v)}; }
OFP8_VEC256 u32v widen_high(u16v x) noexcept { return {_mm256_unpackhi_epi16(_mm256_setzero_si256(), x.v)}; }

// --- memory --------------------------------------------------------------------------------------------------

OFP8_VEC256 __m256i load_bits(const void* p) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
OFP8_VEC256 __m128i load_half(const void* p) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
OFP8_VEC256 void store_bits(void* p, __m256i x) noexcept { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

OFP8_VEC256 f32v load(const float* p) noexcept { return {_mm256_loadu_ps(p)}; }
OFP8_VEC256 f32v load(const bf16* p) noexcept {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_half(p)), 16))};
}
OFP8_VEC256 f32v load(const fp16* p) noexcept { return opaque({_mm256_cvtph_ps(load_half(p))}); }
OFP8_VEC256 u32v load(const std::uint32_t* p) noexcept { return {load_bits(p)}; }
OFP8_VEC256 quad<f32v> load_quad(const bf16* p) noexcept {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i a = _mm256_permute4x64_epi64(load_bits(p), 0xd8);
  const __m256i b = _mm256_permute4x64_epi64(load_bits(p + 2 * lanes), 0xd8);
  return {{_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, a))},
          {_mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, a))},
          {_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, b))},
          {_mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, b))}};
}
template <class In>
OFP8_VEC256 quad<f32v> load_quad(const In* p) noexcept {
  return {load(p), load(p + lanes), load(p + 2 * lanes), load(p + 3 * lanes)};
}
OFP8_VEC256 u16v load_words(const void* p) noexcept { return {load_bits(p)}; }
OFP8_VEC256 u8v load_bytes(const void* p) noexcept { return {load_bits(p)}; }

OFP8_VEC256 void store(std::uint32_t* p, u32v x) noexcept { store_bits(p, x.v); }
OFP8_VEC256 void store(float* p, f32v x) noexcept { _mm256_storeu_ps(p, x.v); }
OFP8_VEC256 void store(void* p, u16v x) noexcept { store_bits(p, x.v); }
OFP8_VEC256 void store(void* p, u8v x) noexcept { store_bits(p, x.v); }

// The first n elements only, 0 <= n < that of the whole, and zeros behind them. There are no masks for bytes: they
// go through a copy on the stack.
template <class T, std::size_t Size>
struct part {
  alignas(32) T elements[Size];
};
OFP8_VEC256 void copy_bytes(void* to, const void* from, std::ptrdiff_t n) noexcept {
  __builtin_memcpy(to, from, static_cast<std::size_t>(n));
}
template <class In>
OFP8_VEC256 quad<f32v> load_quad_first(const In* p, std::ptrdiff_t n) noexcept {
  part<In, block> x{};
  copy_bytes(x.elements, p, n * static_cast<std::ptrdiff_t>(sizeof(In)));
  return load_quad(x.elements);
}
OFP8_VEC256 f32v load_first(const float* p, std::ptrdiff_t n) noexcept {
  part<float, lanes> x{};
  copy_bytes(x.elements, p, 4 * n);
  return load(x.elements);
}
OFP8_VEC256 u32v load_first(const std::uint32_t* p, std::ptrdiff_t n) noexcept {
  part<std::uint32_t, lanes> x{};
  copy_bytes(x.elements, p, 4 * n);
  return load(x.elements);
}
OFP8_VEC256 u16v load_first_words(const void* p, std::ptrdiff_t n) noexcept {
  part<std::uint16_t, 2 * lanes> x{};
  copy_bytes(x.elements, p, 2 * n);
  return load_words(x.elements);
}
OFP8_VEC256 u8v load_first_bytes(const void* p, std::ptrdiff_t n) noexcept {
  part<std::uint8_t, block> x{};
  copy_bytes(x.elements, p, n);
  return load_bytes(x.elements);
}
OFP8_VEC256 void store_first(float* p, std::ptrdiff_t n, f32v v) noexcept {
  part<float, lanes> x;
  store(x.elements, v);
  copy_bytes(p, x.elements, 4 * n);
}
OFP8_VEC256 void store_first(std::uint32_t* p, std::ptrdiff_t n, u32v v) noexcept {
  part<std::uint32_t, lanes> x;
  store(x.elements, v);
  copy_bytes(p, x.elements, 4 * n);
}
OFP8_VEC256 void store_first(void* p, std::ptrdiff_t n, u16v v) noexcept {
  part<std::uint16_t, 2 * lanes> x;
  store(x.elements, v);
  copy_bytes(p, x.elements, 2 * n);
}
OFP8_VEC256 void store_first(void* p, std::ptrdiff_t n, u8v v) noexcept {
  part<std::uint8_t, block> x;
  store(x.elements, v);
  copy_bytes(p, x.elements, n);
}

}  // namespace impl::vec256
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END

#endif  // OFP8_X86_64
