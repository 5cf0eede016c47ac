// SPDX-License-Identifier: Apache-2.0
// ofp8: OFP8_ISA_TAG, the name of the algorithms' inline namespace: `isa_` and one digit per instruction-set
// macro of this translation unit.
//
// The linker merges inline functions by name. Without the tag a program built for the baseline could receive
// the copy that another of its files compiled for AVX-512, and die on an older machine. The x86-64 levels are
// too coarse for this: -mavx2 alone is not v3 and still emits AVX.
#pragma once

#ifdef __SSE3__
#define OFP8_HAS_SSE3 1
#else
#define OFP8_HAS_SSE3 0
#endif
#ifdef __SSSE3__
#define OFP8_HAS_SSSE3 1
#else
#define OFP8_HAS_SSSE3 0
#endif
#ifdef __SSE4_1__
#define OFP8_HAS_SSE4_1 1
#else
#define OFP8_HAS_SSE4_1 0
#endif
#ifdef __SSE4_2__
#define OFP8_HAS_SSE4_2 1
#else
#define OFP8_HAS_SSE4_2 0
#endif
#ifdef __POPCNT__
#define OFP8_HAS_POPCNT 1
#else
#define OFP8_HAS_POPCNT 0
#endif
#ifdef __LZCNT__
#define OFP8_HAS_LZCNT 1
#else
#define OFP8_HAS_LZCNT 0
#endif
#ifdef __MOVBE__
#define OFP8_HAS_MOVBE 1
#else
#define OFP8_HAS_MOVBE 0
#endif
#ifdef __AVX__
#define OFP8_HAS_AVX 1
#else
#define OFP8_HAS_AVX 0
#endif
#ifdef __AVX2__
#define OFP8_HAS_AVX2 1
#else
#define OFP8_HAS_AVX2 0
#endif
#ifdef __FMA__
#define OFP8_HAS_FMA 1
#else
#define OFP8_HAS_FMA 0
#endif
#ifdef __F16C__
#define OFP8_HAS_F16C 1
#else
#define OFP8_HAS_F16C 0
#endif
#ifdef __BMI__
#define OFP8_HAS_BMI 1
#else
#define OFP8_HAS_BMI 0
#endif
#ifdef __BMI2__
#define OFP8_HAS_BMI2 1
#else
#define OFP8_HAS_BMI2 0
#endif
#ifdef __GFNI__
#define OFP8_HAS_GFNI 1
#else
#define OFP8_HAS_GFNI 0
#endif
#ifdef __AVXVNNI__
#define OFP8_HAS_AVXVNNI 1
#else
#define OFP8_HAS_AVXVNNI 0
#endif
#ifdef __AVX512F__
#define OFP8_HAS_AVX512F 1
#else
#define OFP8_HAS_AVX512F 0
#endif
#ifdef __AVX512CD__
#define OFP8_HAS_AVX512CD 1
#else
#define OFP8_HAS_AVX512CD 0
#endif
#ifdef __AVX512BW__
#define OFP8_HAS_AVX512BW 1
#else
#define OFP8_HAS_AVX512BW 0
#endif
#ifdef __AVX512DQ__
#define OFP8_HAS_AVX512DQ 1
#else
#define OFP8_HAS_AVX512DQ 0
#endif
#ifdef __AVX512VL__
#define OFP8_HAS_AVX512VL 1
#else
#define OFP8_HAS_AVX512VL 0
#endif
#ifdef __AVX512IFMA__
#define OFP8_HAS_AVX512IFMA 1
#else
#define OFP8_HAS_AVX512IFMA 0
#endif
#ifdef __AVX512VBMI__
#define OFP8_HAS_AVX512VBMI 1
#else
#define OFP8_HAS_AVX512VBMI 0
#endif
#ifdef __AVX512VBMI2__
#define OFP8_HAS_AVX512VBMI2 1
#else
#define OFP8_HAS_AVX512VBMI2 0
#endif
#ifdef __AVX512VNNI__
#define OFP8_HAS_AVX512VNNI 1
#else
#define OFP8_HAS_AVX512VNNI 0
#endif
#ifdef __AVX512BITALG__
#define OFP8_HAS_AVX512BITALG 1
#else
#define OFP8_HAS_AVX512BITALG 0
#endif
#ifdef __AVX512VPOPCNTDQ__
#define OFP8_HAS_AVX512VPOPCNTDQ 1
#else
#define OFP8_HAS_AVX512VPOPCNTDQ 0
#endif
#ifdef __AVX512BF16__
#define OFP8_HAS_AVX512BF16 1
#else
#define OFP8_HAS_AVX512BF16 0
#endif
#ifdef __AVX512FP16__
#define OFP8_HAS_AVX512FP16 1
#else
#define OFP8_HAS_AVX512FP16 0
#endif

#define OFP8_PASTE_8_(p, a, b, c, d, e, f, g) p##a##b##c##d##e##f##g
#define OFP8_PASTE_8(...) OFP8_PASTE_8_(__VA_ARGS__)
#define OFP8_ISA_TAG_1                                                                                 \
  OFP8_PASTE_8(isa_, OFP8_HAS_SSE3, OFP8_HAS_SSSE3, OFP8_HAS_SSE4_1, OFP8_HAS_SSE4_2, OFP8_HAS_POPCNT, \
               OFP8_HAS_LZCNT, OFP8_HAS_MOVBE)
#define OFP8_ISA_TAG_2                                                                                 \
  OFP8_PASTE_8(OFP8_ISA_TAG_1, OFP8_HAS_AVX, OFP8_HAS_AVX2, OFP8_HAS_FMA, OFP8_HAS_F16C, OFP8_HAS_BMI, \
               OFP8_HAS_BMI2, OFP8_HAS_GFNI)
#define OFP8_ISA_TAG_3                                                                                   \
  OFP8_PASTE_8(OFP8_ISA_TAG_2, OFP8_HAS_AVXVNNI, OFP8_HAS_AVX512F, OFP8_HAS_AVX512CD, OFP8_HAS_AVX512BW, \
               OFP8_HAS_AVX512DQ, OFP8_HAS_AVX512VL, OFP8_HAS_AVX512IFMA)
#define OFP8_ISA_TAG                                                                           \
  OFP8_PASTE_8(OFP8_ISA_TAG_3, OFP8_HAS_AVX512VBMI, OFP8_HAS_AVX512VBMI2, OFP8_HAS_AVX512VNNI, \
               OFP8_HAS_AVX512BITALG, OFP8_HAS_AVX512VPOPCNTDQ, OFP8_HAS_AVX512BF16, OFP8_HAS_AVX512FP16)
