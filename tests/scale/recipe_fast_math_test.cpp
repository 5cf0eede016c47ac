// SPDX-License-Identifier: Apache-2.0
// Compiled with -O3 -ffast-math: the scales that the program computes are those that the compiler computed in a
// constant expression, where no flag applies.
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_step.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

constexpr std::size_t amax_count = 90;  // clang bounds the steps of a constant expression
constexpr std::size_t recipe_count = std::size(recipes::all);

constexpr float amax_at(std::size_t i) {
  // Spread over all positive floats whose inverse is finite, significands by a multiplicative generator.
  const auto exponent = static_cast<std::uint32_t>(8 + i * 238 / amax_count);
  return detail::float_from_bits(exponent << 23 | (static_cast<std::uint32_t>(i) * 2654435761u >> 9));
}

struct step_bits {
  std::uint32_t scale, operand;
};
constexpr step_bits bits_of(const scale_step& s) {
  return {detail::bits_of(s.scale), detail::bits_of(s.operand)};
}

constexpr auto wanted = [] {
  std::array<std::array<step_bits, amax_count>, recipe_count> table{};
  for (std::size_t r = 0; r < recipe_count; ++r)
    for (std::size_t i = 0; i < amax_count; ++i)
      table[r][i] = bits_of(scale_step_for<e4m3, float, bf16>(recipes::all[r].how, amax_at(i)));
  return table;
}();

std::uint32_t scale_bits(const recipe& r, std::uint32_t amax) {
  const detail::fp_environment_guard guard;
  return detail::bits_of(scale_step_for<e4m3>(r, detail::float_from_bits(amax)).scale);
}

}  // namespace

TEST_CASE("a -ffast-math file computes the scales and operands of a constant expression") {
  const detail::fp_environment_guard guard;
  int wrong = 0;
  for (std::size_t r = 0; r < recipe_count; ++r) {
    for (std::size_t i = 0; i < amax_count; ++i) {
      volatile float amax = amax_at(i);
      const step_bits ours = bits_of(scale_step_for<e4m3, float, bf16>(recipes::all[r].how, amax));
      wrong += ours.scale == wanted[r][i].scale && ours.operand == wanted[r][i].operand ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a -ffast-math file handles zero, subnormal, infinite and NaN amax by the recipe") {
  volatile std::uint32_t zero = 0, tiny = 1, infinity = 0x7f800000, nan = 0x7fc00000;
  const recipe& token = recipes::vllm_token_cuda;
  const recipe& compressor = recipes::llm_compressor;
  CHECK(scale_bits({}, zero) == 0x3f800000);
  CHECK(scale_bits({}, tiny) == 0x00800000);
  CHECK(scale_bits({.scale_floor = 0.0f}, 448u << 1) == 2u);  // subnormal amax, subnormal scale
  CHECK(scale_bits(token, zero) == 0x36924925);
  CHECK(scale_bits(token, infinity) == 0x7f800000);
  CHECK(scale_bits(compressor, nan) == 0x7fc00000);
  CHECK(scale_bits(compressor, infinity) == 0x7f800000);
  CHECK(scale_bits(compressor, zero) == 0x34000000);
}
