// SPDX-License-Identifier: Apache-2.0
// The GEMM that everybody writes first: three float loops in the order that compilers vectorize. No blocking.
#pragma once

#include <ofp8/tensor/matrix.hpp>

namespace ofp8::bench {

/// D = A B, with B stored [k][n].
inline void float_ikj_loop(const matrix<float>& a, const matrix<float>& b, matrix<float>& d) {
  const std::ptrdiff_t columns = d.cols();
  for (std::ptrdiff_t i = 0; i < d.rows(); ++i) {
    float* __restrict row = d.row(i);
    for (std::ptrdiff_t j = 0; j < columns; ++j) row[j] = 0;
    for (std::ptrdiff_t k = 0; k < a.cols(); ++k) {
      const float factor = a(i, k);
      const float* __restrict from = b.row(k);
      for (std::ptrdiff_t j = 0; j < columns; ++j) row[j] += factor * from[j];
    }
  }
}

}  // namespace ofp8::bench
