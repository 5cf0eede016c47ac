// SPDX-License-Identifier: Apache-2.0
// Every floating-point environment a caller may be in: the four rounding modes, each with and without
// flush-to-zero and denormals-are-zero. for_each_fp_environment(f) runs f in all of them and restores the
// caller's. f should only compute; assert afterwards.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ofp8::test {

/// Bits of MXCSR.
inline constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;

template <class F>
void for_each_fp_environment(F&& f) {
  std::fenv_t caller;
  std::fegetenv(&caller);
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
#if defined(__x86_64__)
    const unsigned control = _mm_getcsr();
    for (const unsigned flush : {0u, flush_to_zero, denormals_are_zero, flush_to_zero | denormals_are_zero}) {
      _mm_setcsr((control & ~(flush_to_zero | denormals_are_zero)) | flush);
      f();
    }
    _mm_setcsr(control);
#else
    f();
#endif
  }
  std::fesetenv(&caller);
}

}  // namespace ofp8::test
