// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of a matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <ofp8/ofp8.hpp>

namespace example {

inline double amax_of(ofp8::matrix_view<const ofp8::bf16> x) {
  float amax = 0;
  for (std::ptrdiff_t r = 0; r < x.rows(); ++r) {
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c)
      amax = std::max(amax, std::fabs(static_cast<float>(x(r, c))));
  }
  return static_cast<double>(amax);
}

}  // namespace example
