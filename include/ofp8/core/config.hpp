// SPDX-License-Identifier: Apache-2.0
// ofp8: version, and the few macros every other header is written with.
//
// Vocabulary (types, views, options) is OFP8_INLINE: it leaves no symbol behind, so it may be compiled with
// any flags. Algorithms (loops over data) sit between OFP8_STRICT_FP_BEGIN / _END and OFP8_ALGORITHMS_BEGIN /
// _END.
#pragma once

#include <ofp8/core/isa_tag.hpp>

#define OFP8_VERSION_MAJOR 0
#define OFP8_VERSION_MINOR 1
#define OFP8_VERSION_PATCH 0

// Vocabulary functions. The GNU attribute comes first: clang 14 rejects it after constexpr.
#if defined(__GNUC__) || defined(__clang__)
#define OFP8_INLINE __attribute__((always_inline)) inline
#define OFP8_INLINE_MEMBER __attribute__((always_inline))
#define OFP8_NOINLINE __attribute__((noinline))
#define OFP8_COLD __attribute__((noinline, cold))
#else
#define OFP8_INLINE inline
#define OFP8_INLINE_MEMBER
#define OFP8_NOINLINE
#define OFP8_COLD
#endif

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define OFP8_HAS_EXCEPTIONS 1
#else
#define OFP8_HAS_EXCEPTIONS 0
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define OFP8_X86_64 1
#else
#define OFP8_X86_64 0
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define OFP8_AARCH64 1
#else
#define OFP8_AARCH64 0
#endif

// The strict floating-point region: inside it a translation unit compiled with -ffast-math gets the same
// bits. g++ drops the file's option for the functions in between; clang does so for its own operators only,
// which is why SIMD code uses the operators of arch/vec and not the arithmetic intrinsics (their wrappers
// keep the file's flags).
#if defined(__clang__)
#define OFP8_STRICT_FP_BEGIN _Pragma("float_control(precise, on, push)")
#define OFP8_STRICT_FP_END _Pragma("float_control(pop)")
#elif defined(__CUDACC__)  // nvcc hands the pragma to g++, but warns that it does not know it itself
#define OFP8_STRICT_FP_BEGIN                                                                 \
  _Pragma("GCC push_options") _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675") \
      _Pragma("GCC optimize(\"no-fast-math\")") _Pragma("nv_diagnostic pop")
#define OFP8_STRICT_FP_END _Pragma("GCC pop_options")
#elif defined(__GNUC__)
#define OFP8_STRICT_FP_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\"no-fast-math\")")
#define OFP8_STRICT_FP_END _Pragma("GCC pop_options")
#else
#define OFP8_STRICT_FP_BEGIN
#define OFP8_STRICT_FP_END
#endif

// Algorithms live in an inline namespace named after the instruction sets of the translation unit:
// core/isa_tag.hpp.
#define OFP8_ALGORITHMS_BEGIN inline namespace OFP8_ISA_TAG {
#define OFP8_ALGORITHMS_END }
