// SPDX-License-Identifier: Apache-2.0
// Recipes against what the libraries they are named after returned (tests/data/recipes; the scripts are in
// tests/data/generate). The CUDA and Triton kernels could not be recorded: their recipes are checked with
// arithmetic on paper in recipe_test.cpp.
#include <cstddef>
#include <string>

#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>

#include "golden_recipe.hpp"
#include "tests/catch.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

// bf16 scales for bf16 weights is how llm-compressor stores them; a bf16 scale in a float grid is the same
// number.
template <granularity G>
void check_llm_compressor(const std::string& file, const std::string& params, std::size_t calls) {
  const auto rows = golden_calls(file, params);
  CHECK(rows.size() == calls);
  for (const golden_call& call : rows) CHECK(difference<e4m3, G>(call, recipes::llm_compressor) == "");
}

bool ordinary(const golden_call& call) {
  for (std::uint32_t bits : call.x)
    if (!detail::is_finite(number(call.x_type, bits))) return false;
  for (std::uint32_t code : call.scales)
    if (code == 0) return false;
  return true;
}

template <class E>
int check_ocp_mx(const std::string& params) {
  int compared = 0;
  for (const golden_call& call : golden_calls("torchao_mx", params)) {
    if (!ordinary(call)) continue;
    ++compared;
    if (call.cols % 8 == 0) {
      CHECK(difference<E, mx<8>>(call, recipes::ocp_mx) == "");
    } else {
      CHECK(difference<E, mx<1>>(call, recipes::ocp_mx) == "");
    }
  }
  return compared;
}

}  // namespace

TEST_CASE(
    "llm_compressor gives the scales and codes of llm-compressor and compressed-tensors, all recorded rows") {
  check_llm_compressor<per_tensor>("ct_tensor", "", 40);
  check_llm_compressor<per_channel>("ct_channel", "", 40);
  check_llm_compressor<block_wise<2, 4>>("ct_block", "block=2x4", 40);
  check_llm_compressor<block_wise<3, 5>>("ct_block", "block=3x5", 40);
  check_llm_compressor<block_wise<128, 128>>("ct_block", "block=128x128", 1);
  check_llm_compressor<per_token>("ct_token", "ndim=3", 40);
  check_llm_compressor<per_tensor>("ct_token", "ndim=2", 40);  // its 2-D token scale is one number
  check_llm_compressor<per_group<4>>("ct_group", "group=4", 36);
}

TEST_CASE("ocp_mx gives torchao's floor mode wherever a scale is above 2^-127 and all inputs are finite") {
  // Left out: an all-zero group, a scale below 2^-126 (torchao: code 00; here 7f and 01), Inf and NaN inputs
  // (here they do not count).
  CHECK(check_ocp_mx<e4m3>("e4m3fn,floor") == 23);
  CHECK(check_ocp_mx<e5m2>("e5m2,floor") == 23);
}

TEST_CASE(
    "a recipe with torchao's reading of the codes 00 and ff gives all recorded rows of its exact MX modes") {
  const recipe floor{.amax = amax_rule::propagate_nan,
                     .on_zero = zero_rule::as_computed,
                     .scale_floor = 0.0f,
                     .power = power_rule::floor,
                     .power_of = power_operand::amax,
                     .e8m0_operand = e8m0_operand_rule::exponent_field};
  recipe ceil = floor, even = floor;
  ceil.power = power_rule::up;
  even.power = power_rule::after_rounding;
  const auto check = [](const char* params, const recipe& r) {
    int compared = 0;
    for (const golden_call& call : golden_calls("torchao_mx", std::string("e4m3fn,") + params)) {
      ++compared;
      CHECK((call.cols % 8 == 0 ? difference<e4m3, mx<8>>(call, r) : difference<e4m3, mx<1>>(call, r)) == "");
    }
    for (const golden_call& call : golden_calls("torchao_mx", std::string("e5m2,") + params)) {
      ++compared;
      CHECK((call.cols % 8 == 0 ? difference<e5m2, mx<8>>(call, r) : difference<e5m2, mx<1>>(call, r)) == "");
    }
    return compared;
  };
  CHECK(check("floor", floor) == 80);
  CHECK(check("ceil", ceil) == 80);
  CHECK(check("even", even) == 80);
}
