// SPDX-License-Identifier: Apache-2.0
// Numbers to measure with: roughly normal, never subnormal (subnormal operands cost a factor of ten and more
// on some machines), the same everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <ofp8/core/convert.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "ceilings/buffer.hpp"

namespace ofp8::bench {

/// A sum of four uniform numbers, minus its mean: standard deviation 1, |x| <= 3.5.
class normal_source {
 public:
  float operator()() noexcept {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    float sum = 0;
    for (unsigned shift = 16; shift < 64; shift += 12)
      sum += static_cast<float>((state_ >> shift) & 0xfffu) * (1.0f / 4096);
    const float x = (sum - 2.0f) * std::sqrt(3.0f);
    return std::fabs(x) < 1e-3f ? 1e-3f : x;
  }

 private:
  std::uint64_t state_ = 0x9e37'79b9'7f4a'7c15;
};

/// Any range's elements. Beyond 64 Ki they repeat, so that operands in DRAM are there soon.
template <class T>
void fill_normal(T* out, std::size_t n) {
  constexpr std::size_t period = std::size_t{1} << 16;
  normal_source next;
  for (std::size_t i = 0; i < std::min(n, period); ++i) out[i] = convert<T>(next());
  for (std::size_t i = period; i < n; ++i) out[i] = out[i - period];
}

template <class T>
buffer<T> normal_buffer(std::size_t n) {
  buffer<T> b(n);
  fill_normal(b.data(), n);
  return b;
}

template <class T>
matrix<T> normal_matrix(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  matrix<T> m(rows, cols);
  fill_normal(m.data(), static_cast<std::size_t>(rows * cols));
  return m;
}

}  // namespace ofp8::bench
