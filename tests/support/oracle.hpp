// SPDX-License-Identifier: Apache-2.0
// What a conversion must return, found by searching the list of a format's values. It shares no code with the
// library: layouts are typed in from the OCP OFP8 document, values are built with ldexp, and rounding is a
// comparison with the exact midpoint of two neighbours (every midpoint is a double, and comparing two doubles
// rounds nothing).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8::test {

/// A format as its document states it. `largest` is the code of the largest finite number.
struct layout {
  const char* name;
  int mantissa_bits, bias;
  unsigned largest, sign;
  bool minus_zero;
};

template <class T>
inline constexpr layout layout_of{};
template <>
inline constexpr layout layout_of<e4m3>{"e4m3", 3, 7, 0x7e, 0x80, true};
template <>
inline constexpr layout layout_of<e5m2>{"e5m2", 2, 15, 0x7b, 0x80, true};
template <>
inline constexpr layout layout_of<e4m3fnuz>{"e4m3fnuz", 3, 8, 0x7f, 0x80, false};
template <>
inline constexpr layout layout_of<e5m2fnuz>{"e5m2fnuz", 2, 16, 0x7f, 0x80, false};
template <>
inline constexpr layout layout_of<bf16>{"bf16", 7, 127, 0x7f7f, 0x8000, true};
template <>
inline constexpr layout layout_of<fp16>{"fp16", 10, 15, 0x7bff, 0x8000, true};

/// The codes of everything that is not a rounded finite number, the positive one first.
struct specials {
  std::array<unsigned, 2> nan, infinity, overflow;
  friend bool operator==(const specials&, const specials&) = default;
};

enum class direction { nearest_even, toward_zero };

/// The magnitudes of a format in increasing order. Position i is the value of code i; one position more, the
/// value that would follow the largest finite number, stands for "overflow".
class lattice {
 public:
  explicit lattice(const layout& l) : layout_(l) {
    for (unsigned code = 0; code <= l.largest + 1; ++code) values_.push_back(value(code));
    for (std::size_t i = 0; i + 1 < values_.size(); ++i)
      midpoints_.push_back((values_[i] + values_[i + 1]) / 2);
  }

  const layout& of() const { return layout_; }
  const std::vector<double>& values() const { return values_; }        ///< 0 .. largest, then overflow
  const std::vector<double>& midpoints() const { return midpoints_; }  ///< between i and i + 1
  unsigned overflow() const { return layout_.largest + 1; }

  /// Position of the value nearest to `magnitude`; a tie goes to the even position.
  template <class T>
  unsigned nearest(T magnitude) const {
    const auto below = std::lower_bound(midpoints_.begin(), midpoints_.end(), magnitude);
    const auto i = static_cast<unsigned>(below - midpoints_.begin());  // midpoint i is the first >= magnitude
    if (i == midpoints_.size() || magnitude < *below) return i;
    return i % 2 == 0 ? i : i + 1;
  }

  /// Position of the largest value not above `magnitude`.
  template <class T>
  unsigned floor(T magnitude) const {
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude);
    return static_cast<unsigned>(above - values_.begin()) - 1;
  }

  /// Adds random / 2^count of the distance between the neighbours and truncates. Exact: magnitude - lower has
  /// no more bits than magnitude, and the distance is a power of two.
  unsigned stochastic(double magnitude, std::uint32_t random, int count) const {
    const unsigned lower = floor(magnitude);
    if (lower == overflow()) return lower;
    const double distance = values_[lower + 1] - values_[lower];
    const double needed = std::ldexp(1.0, count) - random;
    return std::ldexp(magnitude - values_[lower], count) >= needed * distance ? lower + 1 : lower;
  }

  /// The code of a signed position.
  unsigned code(unsigned position, bool negative, const specials& s) const {
    if (position >= overflow()) return s.overflow[negative];
    const bool keeps_sign = negative && (position != 0 || layout_.minus_zero);
    return position | (keeps_sign ? layout_.sign : 0);
  }

 private:
  double value(unsigned code) const {
    const int m = layout_.mantissa_bits;
    const int field = static_cast<int>(code >> m);
    const int mantissa = static_cast<int>(code & ((1u << m) - 1));
    if (field == 0) return std::ldexp(mantissa, 1 - layout_.bias - m);
    return std::ldexp(mantissa + (1 << m), field - layout_.bias - m);
  }

  layout layout_;
  std::vector<double> values_, midpoints_;
};

template <class T>
const lattice& lattice_of() {
  static const lattice l(layout_of<T>);
  return l;
}

/// The code of any double (so of any float, bf16 and fp16 as well).
template <class To>
unsigned expected(double x, const specials& s, direction d = direction::nearest_even) {
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const bool negative = (bits >> 63) != 0;
  const std::uint64_t magnitude = bits & 0x7fff'ffff'ffff'ffff;
  if (magnitude > 0x7ff0'0000'0000'0000) return s.nan[negative];
  if (magnitude == 0x7ff0'0000'0000'0000) return s.infinity[negative];
  const lattice& l = lattice_of<To>();
  const double a = __builtin_bit_cast(double, magnitude);
  return l.code(d == direction::nearest_even ? l.nearest(a) : l.floor(a), negative, s);
}

/// The same for the bits of a float: widening by integers, so that NaN and DAZ do not matter.
template <class To>
unsigned expected_of_float(std::uint32_t bits, const specials& s, direction d = direction::nearest_even) {
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  const bool negative = bits >> 31 != 0;
  if (magnitude > 0x7f80'0000) return s.nan[negative];
  if (magnitude == 0x7f80'0000) return s.infinity[negative];
  const int field = static_cast<int>(magnitude >> 23);
  const double fraction = magnitude & 0x7f'ffff;
  const double a = field == 0 ? std::ldexp(fraction, -149) : std::ldexp(fraction + 0x80'0000, field - 150);
  const lattice& l = lattice_of<To>();
  return l.code(d == direction::nearest_even ? l.nearest(a) : l.floor(a), negative, s);
}

/// The code of an integer. long double holds 64 bits exactly on every supported machine.
template <class To>
unsigned expected_of_integer(bool negative, std::uint64_t magnitude, const specials& s,
                             direction d = direction::nearest_even) {
  const lattice& l = lattice_of<To>();
  const auto a = static_cast<long double>(magnitude);
  const bool minus = negative && magnitude != 0;
  return l.code(d == direction::nearest_even ? l.nearest(a) : l.floor(a), minus, s);
}

/// The value of a code by the same list, NaN and infinity apart.
template <class T>
double lattice_value(unsigned code) {
  const layout& l = layout_of<T>;
  const double magnitude = lattice_of<T>().values()[code & (l.sign - 1)];
  return (code & l.sign) != 0 ? -magnitude : magnitude;
}

/// A stretch of float bit patterns (sign clear) that all have one code.
struct run {
  std::uint32_t first;
  unsigned code;
};

/// The codes of all non-negative floats 0 .. infinity as runs: codes grow with the float, so the ends of each
/// stretch are found by bisection and everything between two equal ends is equal.
template <class To>
std::vector<run> runs_of_floats(const specials& s, bool negative) {
  const std::uint32_t sign = negative ? 0x8000'0000 : 0;
  const auto at = [&](std::uint32_t magnitude) { return expected_of_float<To>(magnitude | sign, s); };
  const std::uint32_t last = 0x7f7f'ffff;
  std::vector<run> runs{{0, at(0)}};
  while (at(last) != runs.back().code) {
    std::uint32_t same = runs.back().first, other = last;
    while (other - same > 1) {
      const std::uint32_t middle = same + (other - same) / 2;
      (at(middle) == runs.back().code ? same : other) = middle;
    }
    runs.push_back({other, at(other)});
  }
  runs.push_back({0x7f80'0000, s.infinity[negative]});
  runs.push_back({0x7f80'0001, s.nan[negative]});
  return runs;
}

}  // namespace ofp8::test
