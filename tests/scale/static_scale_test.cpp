// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>
#include <string>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/static_scale.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const argument_error& e) {
    return std::string("argument: ") + e.what();
  } catch (const shape_error& e) {
    return std::string("shape: ") + e.what();
  }
  return "nothing was thrown";
}

// {} must go on meaning "the default recipe", and a number must not slip in as a scale.
static_assert(!std::is_default_constructible_v<static_scale>);
static_assert(!std::is_convertible_v<float, static_scale> && !std::is_convertible_v<double, static_scale>);
static_assert(!std::is_convertible_v<matrix_view<float>, static_scale>);
static_assert(std::is_constructible_v<static_scale, matrix_view<float>>);
static_assert(std::is_constructible_v<static_scale, scale_grid<const float>>);
static_assert(!std::is_constructible_v<static_scale, matrix_view<e4m3>>);

int chosen(const recipe&) { return 1; }
int chosen(const static_scale&) { return 2; }

}  // namespace

TEST_CASE("empty braces are a recipe, never a static scale") {
  CHECK(chosen({}) == 1);
  CHECK(chosen({.amax_floor = 1e-4f}) == 1);
  CHECK(chosen(static_scale(0.25f)) == 2);
}

TEST_CASE("one static scale is the scale of every block") {
  const static_scale s(0.25f);
  CHECK_FALSE(s.is_grid());
  CHECK(s(0, 0) == 0.25f);
  CHECK(s(7, 9) == 0.25f);
  CHECK(static_scale(std::numeric_limits<float>::denorm_min())(0, 0) == 0x1p-149f);
  CHECK(static_scale(std::numeric_limits<float>::max())(0, 0) == 0x1.fffffep127f);
}

TEST_CASE("a grid of static scales gives each block its own") {
  matrix<float> grid(2, 3);
  for (std::ptrdiff_t i = 0; i < 6; ++i) grid.data()[i] = float(i + 1);
  const static_scale s(grid.view());
  CHECK(s.is_grid());
  CHECK(s(1, 2) == 6.0f);
  CHECK(s.grid().rows() == 2);
  const static_scale m_major(scale_grid<const float>(grid.data(), 3, 2, 1, 3));
  CHECK(m_major(2, 1) == 6.0f);
}

TEST_CASE("a static scale is finite and positive, and the message names the one that is not") {
  CHECK(message_of([] { (void)static_scale(0.0f); }) ==
        "argument: static_scale: scale 0 is not finite and positive");
  CHECK(message_of([] { (void)static_scale(-0.0f); }) ==
        "argument: static_scale: scale -0 is not finite and positive");
  CHECK(message_of([] { (void)static_scale(-0.25f); }) ==
        "argument: static_scale: scale -0.25 is not finite and positive");
  CHECK(message_of([] { (void)static_scale(std::numeric_limits<float>::infinity()); }) ==
        "argument: static_scale: scale inf is not finite and positive");
  CHECK(message_of([] { (void)static_scale(std::numeric_limits<float>::quiet_NaN()); }) ==
        "argument: static_scale: scale nan is not finite and positive");
  CHECK(message_of([] { (void)static_scale(detail::float_from_bits(0xff800000u)); }) ==
        "argument: static_scale: scale -inf is not finite and positive");
}

TEST_CASE("where they are used, static scales must have the grid's shape and all be finite and positive") {
  matrix<float> grid(2, 3);
  for (std::ptrdiff_t i = 0; i < 6; ++i) grid.data()[i] = 1.0f;
  const auto check = [&](const static_scale& s) {
    detail::check_static_scale<block_wise<2, 4>>("quantize", s, 3, 9);
  };
  CHECK(message_of([&] { check(static_scale(grid.view())); }) == "nothing was thrown");
  CHECK(message_of([&] { check(static_scale(2.0f)); }) == "nothing was thrown");
  matrix<float> other(3, 2);
  CHECK(message_of([&] { check(static_scale(other.view())); }) ==
        "shape: quantize: static scales are 3x2: this granularity needs 2x3 scales");
  grid(1, 1) = 0.0f;
  CHECK(message_of([&] { check(static_scale(grid.view())); }) ==
        "argument: quantize: scale 0 is not finite and positive");
  grid(1, 1) = std::numeric_limits<float>::quiet_NaN();
  CHECK(message_of([&] { check(static_scale(grid.view())); }) ==
        "argument: quantize: scale nan is not finite and positive");
}

TEST_CASE("a static scale that its type cannot hold is refused, not rounded in silence") {
  const auto check_mx = [](float s) {
    detail::check_static_scale<mx<32>>("quantize", static_scale(s), 1, 32);
  };
  CHECK(message_of([&] { check_mx(0.25f); }) == "nothing was thrown");
  CHECK(message_of([&] { check_mx(0x1p-127f); }) == "nothing was thrown");
  CHECK(message_of([&] { check_mx(0.3f); }) ==
        "argument: quantize: scale 0.300000012 cannot be stored in the scale's type without rounding");
  CHECK(message_of([&] { check_mx(0x1p-128f); }) ==
        "argument: quantize: scale 2.93873588e-39 cannot be stored in the scale's type without rounding");
  using brain = scale_block<1, whole, bf16>;
  const auto check_bf16 = [](float s) {
    detail::check_static_scale<brain>("quantize", static_scale(s), 1, 32);
  };
  CHECK(message_of([&] { check_bf16(1.0078125f); }) == "nothing was thrown");
  CHECK(message_of([&] { check_bf16(1.001f); }) ==
        "argument: quantize: scale 1.00100005 cannot be stored in the scale's type without rounding");
}
