// SPDX-License-Identifier: Apache-2.0
// ofp8: how far the FP32 sum of a scaled GEMM can be from the exact one.
//
//   double bound = fp32_sum_bound({.longest_segment = 128, .segments = k / 128}, sum_of_magnitudes);
//   assert(std::abs(d - exact) <= bound);                          // before the rounding to a narrower output
#pragma once

#include <cstddef>

#include <ofp8/core/config.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN

/// The roundings on the way of one output.
struct sum_shape {
  std::ptrdiff_t
      longest_segment;  ///< k between two boundaries of the scale grids: K where scales are constant along it
  std::ptrdiff_t segments = 1;
};

/// Bound of |v - exact| for an output v of gemm_nt before its rounding to D's type. `magnitudes` is sum_k |sa a| |sb b| +
/// |C| + |bias| for that output. Holds where no scale product sa * sb overflows or is subnormal and v does not overflow.
///
/// Derivation (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), u = 2^-24: a term passes at most
/// `longest_segment` roundings in its segment's fma chain, one of alpha = sa * sb, and `segments` of the chain of v (the
/// product of the one-segment case is one of them, C + bias is one more for the addend alone, which passes no segment).
/// So its relative error is below g = j u / (1 - j u) with j = longest_segment + segments + 1. Results below the normal
/// range add at most 2^-150 for each fma of v.
[[nodiscard]] inline double fp32_sum_bound(sum_shape shape, double magnitudes) noexcept {
  const double roundings = static_cast<double>(shape.longest_segment + shape.segments + 1) * 0x1p-24;
  return roundings / (1.0 - roundings) * magnitudes + static_cast<double>(shape.segments) * 0x1p-150;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
