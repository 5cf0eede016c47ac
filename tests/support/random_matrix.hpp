// SPDX-License-Identifier: Apache-2.0
// Random matrices for properties: each row is of one kind, because that is what scales depend on.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "tests/support/random_bits.hpp"

namespace ofp8::test {

enum class row_kind : std::uint8_t {
  even,        ///< all elements within one factor of two
  wide,        ///< exponents over 24 binades
  outlier,     ///< one element 2^12 above the others
  with_zeros,  ///< half of them zeros of both signs
  anything     ///< any bits: subnormal, huge, NaN, infinity
};

/// A finite nonzero number with an exponent of exactly `exponent`.
inline float random_float(random_source& random, int exponent) {
  const std::uint32_t b = random.bits32();
  return detail::float_from_bits((b & 0x807f'ffffu) | static_cast<std::uint32_t>(exponent + 127) << 23);
}

inline float random_element(random_source& random, row_kind kind, int exponent, bool first) {
  switch (kind) {
    case row_kind::even:
      return random_float(random, exponent);
    case row_kind::wide:
      return random_float(random, exponent - static_cast<int>(random.below(24)));
    case row_kind::outlier:
      return random_float(random, first ? exponent : exponent - 12);
    case row_kind::with_zeros:
      return random.below(2) == 0 && !first ? detail::float_from_bits(random.bits32() & detail::float_sign)
                                            : random_float(random, exponent);
    default:
      return detail::float_from_bits(random.below(8) == 0 ? random.bits32() | detail::float_infinity
                                                          : random.bits32());
  }
}

/// Rows of the first `kinds` kinds in random order, amax between 2^-`span` and 2^(span + 1). The first four kinds
/// are finite, and no row of them is all zeros.
template <class T>
matrix<T> random_matrix(random_source& random, std::ptrdiff_t rows, std::ptrdiff_t cols, int kinds,
                        int span = 12) {
  matrix<T> x(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    const auto kind = static_cast<row_kind>(random.below(static_cast<std::uint32_t>(kinds)));
    const int exponent = static_cast<int>(random.below(static_cast<std::uint32_t>(2 * span + 1))) - span;
    for (std::ptrdiff_t c = 0; c < cols; ++c) {
      const float v = random_element(random, kind, exponent, c % 32 == 0);
      if constexpr (std::same_as<T, float>) {
        x(r, c) = v;
      } else {
        x(r, c) = convert<T>(v);
      }
    }
  }
  return x;
}

}  // namespace ofp8::test
