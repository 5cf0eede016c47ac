// SPDX-License-Identifier: Apache-2.0
// ofp8: the fma of the specification: a * b + c, rounded once, whatever the file is compiled for. Without the
// instruction it is the C library's, called so that the optimizer does not see what it is: under -ffast-math
// clang takes __builtin_fmaf apart into a product and a sum, where float_control says precise, too.
#pragma once

#include <cmath>

#include <ofp8/core/config.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8::reference {
OFP8_ALGORITHMS_BEGIN
namespace impl {

inline float fma(float a, float b, float c) noexcept {
#if defined(__FMA__) || OFP8_AARCH64
  return __builtin_fmaf(a, b, c);
#else
  float (*volatile library)(float, float, float) = &::fmaf;
  return library(a, b, c);
#endif
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8::reference
OFP8_STRICT_FP_END
