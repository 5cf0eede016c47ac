// SPDX-License-Identifier: Apache-2.0
// Inputs that find conversion bugs: every exponent with the significands next to every possible tie, every
// value and midpoint of a format with its neighbours, and doubles so close to a tie that rounding them to float
// first lands on it.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/oracle.hpp"
#include "tests/support/random_bits.hpp"

namespace ofp8::test {

inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline double double_of(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
inline std::uint32_t bits_of_float(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline std::uint64_t bits_of_double(double x) { return __builtin_bit_cast(std::uint64_t, x); }

/// Bits of floats: all 512 signs and exponents, times the significands k/16 with their neighbours up to two
/// units in the last place. 1/16 is a tie of three mantissa bits, 1/8 of two.
inline std::vector<std::uint32_t> stratified_floats() {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t sign_exponent = 0; sign_exponent < 512; ++sign_exponent) {
    for (std::uint32_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
      for (std::uint32_t offset = 0; offset < 5; ++offset) {
        bits.push_back((sign_exponent << 23) + (((sixteenth << 19) + offset - 2) & 0x7f'ffff));
      }
    }
  }
  return bits;
}

/// Doubles at, and at every distance of 1 unit in the last place .. 2^-20 from, each value and midpoint of a
/// format; then the extremes and random ones. The first group is full of double-rounding traps.
inline std::vector<double> tricky_doubles(const lattice& l) {
  std::vector<double> out;
  const auto add = [&](double x) {
    out.push_back(x);
    out.push_back(-x);
  };
  for (const std::vector<double>* list : {&l.values(), &l.midpoints()}) {
    for (const double x : *list) {
      add(x);
      for (int k = 0; k <= 32; k += 4) {
        const std::uint64_t distance = std::uint64_t{1} << k;
        add(double_of(bits_of_double(x) + distance));
        if (x > 0) add(double_of(bits_of_double(x) - distance));
      }
    }
  }
  for (const std::uint64_t bits :
       {0x0000'0000'0000'0001ull, 0x000f'ffff'ffff'ffffull, 0x0010'0000'0000'0000ull,
        0x3690'0000'0000'0000ull, 0x47ef'ffff'ffff'ffffull, 0x47f0'0000'0000'0000ull,
        0x7fef'ffff'ffff'ffffull, 0x7ff0'0000'0000'0000ull, 0x7ff0'0000'0000'0001ull,
        0x7ff8'0000'0000'0000ull, 0x7fff'ffff'ffff'ffffull}) {
    out.push_back(double_of(bits));
    out.push_back(double_of(bits | 0x8000'0000'0000'0000ull));
  }
  random_source random(17);
  for (int i = 0; i < 2000; ++i) out.push_back(double_of(random.bits64()));
  return out;
}

}  // namespace ofp8::test
