// SPDX-License-Identifier: Apache-2.0
// Rows of tests/data/recipes/*.tsv, what other libraries returned for a matrix, and their comparison with what a
// recipe gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/reference/quantize.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "tests/support/golden.hpp"

namespace ofp8::test {

/// One call of a library.
struct golden_call {
  std::string name, params, x_type, scale_type;
  std::ptrdiff_t rows = 0, cols = 0;
  std::vector<std::uint32_t> x, scales, codes;  // bit patterns
};

inline std::vector<std::uint32_t> hex_numbers(const std::string& cell) {
  std::istringstream text(cell);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; text >> std::hex >> number;) numbers.push_back(number);
  return numbers;
}

/// The calls of a file with the given parameters that returned something.
inline std::vector<golden_call> golden_calls(const std::string& file, const std::string& params) {
  const golden_table table("recipes/" + file + ".tsv");
  std::vector<golden_call> calls;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.cell(i, "params") != params || !table.cell(i, "error").empty()) continue;
    golden_call call;
    call.name = table.cell(i, "case");
    call.params = params;
    call.x_type = table.cell(i, "x_type");
    call.scale_type = table.cell(i, "s_type");
    const std::string& shape = table.cell(i, "x_shape");
    call.rows = std::stol(shape);
    call.cols = std::stol(shape.substr(shape.find('x') + 1));
    call.x = hex_numbers(table.cell(i, "x"));
    call.scales = hex_numbers(table.cell(i, "s"));
    call.codes = hex_numbers(table.cell(i, "codes"));
    calls.push_back(call);
  }
  return calls;
}

inline float number(const std::string& type, std::uint32_t bits) {
  if (type == "bf16") return float(bf16::from_bits(bits));
  if (type == "e8m0" || type == "u8") return float(e8m0::from_bits(bits));
  return detail::float_from_bits(bits);
}

/// Empty where codes and scales are the call's. A NaN is as good as another: 0/0 has its sign set on x86 only.
template <class E, granularity G>
std::string difference(const golden_call& call, const scaled_matrix<E, G>& ours) {
  std::ostringstream text;
  text << call.name << ' ' << call.x_type << ' ' << call.params << std::hex;
  const std::ptrdiff_t grid_cols = ours.scales().cols(), count = ours.scales().rows() * grid_cols;
  if (static_cast<std::ptrdiff_t>(call.scales.size()) != count ||
      static_cast<std::ptrdiff_t>(call.codes.size()) != call.rows * call.cols)
    return text.str() + ": another shape";
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const float theirs = number(call.scale_type, call.scales[static_cast<std::size_t>(i)]);
    const float mine = float(ours.scales()(i / grid_cols, i % grid_cols));
    if (detail::is_nan(theirs) ? !detail::is_nan(mine) : detail::bits_of(theirs) != detail::bits_of(mine)) {
      text << ": scale " << i << " is " << detail::bits_of(mine) << ", theirs " << detail::bits_of(theirs);
      return text.str();
    }
  }
  for (std::ptrdiff_t i = 0; i < call.rows * call.cols; ++i) {
    const std::uint32_t theirs = call.codes[static_cast<std::size_t>(i)];
    const E mine = ours.codes()(i / call.cols, i % call.cols);
    if (E::spec.is_nan(theirs) ? !isnan(mine) : theirs != mine.bits()) {
      text << ": code " << i << " is " << unsigned{mine.bits()} << ", theirs " << theirs << " of "
           << call.x[static_cast<std::size_t>(i)];
      return text.str();
    }
  }
  return "";
}

template <class T>
matrix<T> input_of(const golden_call& call) {
  matrix<T> x(call.rows, call.cols);
  for (std::ptrdiff_t i = 0; i < call.rows * call.cols; ++i) {
    const std::uint32_t bits = call.x[static_cast<std::size_t>(i)];
    if constexpr (std::same_as<T, float>) {
      x.data()[i] = detail::float_from_bits(bits);
    } else {
      x.data()[i] = T::from_bits(bits);
    }
  }
  return x;
}

/// Empty where the reference and quantize on every instruction set give the call's scales and codes.
/// `arguments` are those of quantize after x: [a static_scale,] a recipe.
template <class E, granularity G, class T, class... Arguments>
std::string difference_everywhere(const golden_call& call, const Arguments&... arguments) {
  const matrix<T> x = input_of<T>(call);
  std::string found = difference(call, reference::quantize<E, G>(x, arguments...));
  for (isa i : available_isas()) {
    if (!found.empty()) return found;
    found = difference(call, quantize<E, G>(x, arguments..., {.isa = i}));
    if (!found.empty()) found = std::string(name(i)) + ": " + found;
  }
  return found;
}

template <class E, granularity G, class... Arguments>
std::string difference(const golden_call& call, const Arguments&... arguments) {
  return call.x_type == "bf16" ? difference_everywhere<E, G, bf16>(call, arguments...)
                               : difference_everywhere<E, G, float>(call, arguments...);
}

}  // namespace ofp8::test
