// SPDX-License-Identifier: Apache-2.0
// One group, quantized by the reference and on every instruction set, to compare with numbers on paper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/reference/quantize.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "tests/catch.hpp"

namespace ofp8::test {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

inline float from(std::uint32_t bits) { return detail::float_from_bits(bits); }
inline std::uint32_t bits(float x) { return detail::bits_of(x); }

/// Scale bits and codes of one group.
struct group {
  std::uint32_t scale;
  std::vector<unsigned> codes;
  friend bool operator==(const group&, const group&) = default;
  friend std::ostream& operator<<(std::ostream& out, const group& g) {
    out << std::hex << g.scale << ':';
    for (unsigned code : g.codes) out << ' ' << code;
    return out << std::dec;
  }
};

template <class Q>
group group_of(const Q& q) {
  group g{bits(q.scale_at(0, 0)), {}};
  for (std::ptrdiff_t i = 0; i < q.cols(); ++i) g.codes.push_back(q.codes()(0, i).bits());
  return g;
}

/// What the reference gives for a row of one group; every instruction set is checked to give the same.
template <class E = e4m3, granularity G = per_tensor, class T = float>
group quantized(const std::vector<float>& x, const recipe& r) {
  matrix<T> row(1, static_cast<std::ptrdiff_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) row.data()[i] = convert<T>(x[i]);
  const group g = group_of(reference::quantize<E, G>(row, r));
  for (isa i : available_isas()) CHECK(group_of(quantize<E, G>(row, r, {.isa = i})) == g);
  return g;
}

template <class E, class Scale = float, class Input = float>
std::uint32_t scale_of(const recipe& r, float amax) {
  const detail::fp_environment_guard guard;
  return bits(scale_step_for<E, Scale, Input>(r, amax).scale);
}

/// The rules differ in the last bit for this amax, 1.457524.
inline constexpr float awkward = detail::float_from_bits(0x3fba9029);

}  // namespace ofp8::test
