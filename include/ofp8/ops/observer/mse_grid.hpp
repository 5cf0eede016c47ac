// SPDX-License-Identifier: Apache-2.0
// ofp8: mse_grid, the candidates of a search for the scale with the smallest quantization error: the largest
// magnitude, and smaller ones that let a few outliers saturate.
//
//   mse_grid{.steps = 100, .candidates = 80};            // amax * 1.00, 0.99 .. 0.21
#pragma once

#include <ofp8/core/config.hpp>
#include <ofp8/ops/observer/observe_blocks.hpp>

namespace ofp8 {

/// Candidate i of 0 .. candidates - 1 takes fl(amax * (1 - i / steps)) for the amax. Of equal errors the
/// largest candidate wins. Throws argument_error where it is used unless 1 <= candidates <= steps <= 2^20.
struct mse_grid {
  int steps = 100;
  int candidates = 80;
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

inline void check_mse_grid(const char* function, const mse_grid& grid) {
  if (grid.steps < 1 || grid.steps > (1 << 20)) refuse_option(function, "steps", grid.steps, "1 .. 2^20");
  if (grid.candidates < 1 || grid.candidates > grid.steps)
    refuse_option(function, "candidates", grid.candidates, "1 .. steps");
}

// The product is exact in double: 24 + 20 bits.
inline float candidate_amax(const mse_grid& grid, float amax, int i) noexcept {
  return static_cast<float>(static_cast<double>(amax) * static_cast<double>(grid.steps - i) /
                            static_cast<double>(grid.steps));
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
