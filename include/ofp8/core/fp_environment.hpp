// SPDX-License-Identifier: Apache-2.0
// ofp8: the one floating-point environment that every kernel runs in: round to nearest even, subnormals kept
// (no FTZ, no DAZ), exceptions masked. Public entries open a guard, and so does every task on a worker
// thread, so no result depends on the caller's rounding mode or denormal flags.
//
//   { detail::fp_environment_guard guard; ... }      // the caller's environment is back afterwards
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>

#if OFP8_X86_64
#include <xmmintrin.h>
#endif

namespace ofp8::detail {

#if OFP8_X86_64
OFP8_INLINE std::uint32_t read_fp_control() noexcept { return _mm_getcsr(); }
OFP8_INLINE void write_fp_control(std::uint32_t control) noexcept { _mm_setcsr(control); }
inline constexpr std::uint32_t known_fp_control = 0x1f80;  // all exceptions masked, nothing else
inline constexpr std::uint32_t fp_status_flags = 0x003f;
#elif OFP8_AARCH64
OFP8_INLINE std::uint64_t read_fp_control() noexcept {
  std::uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
OFP8_INLINE void write_fp_control(std::uint64_t control) noexcept {
  __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
inline constexpr std::uint64_t known_fp_control = 0;
inline constexpr std::uint64_t fp_status_flags = 0;
#else
OFP8_INLINE std::uint32_t read_fp_control() noexcept { return 0; }
OFP8_INLINE void write_fp_control(std::uint32_t) noexcept {}
inline constexpr std::uint32_t known_fp_control = 0;
inline constexpr std::uint32_t fp_status_flags = 0;
#endif

/// Sets the known environment for its lifetime; the caller's control and status come back at the end.
class fp_environment_guard {
 public:
  OFP8_INLINE_MEMBER fp_environment_guard() noexcept : saved_(read_fp_control()) {
    if ((saved_ & ~fp_status_flags) != known_fp_control) write_fp_control(known_fp_control);
  }
  OFP8_INLINE_MEMBER ~fp_environment_guard() { write_fp_control(saved_); }
  fp_environment_guard(const fp_environment_guard&) = delete;
  fp_environment_guard& operator=(const fp_environment_guard&) = delete;

 private:
  decltype(read_fp_control()) saved_;
};

}  // namespace ofp8::detail
