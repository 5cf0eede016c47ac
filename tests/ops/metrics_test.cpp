// SPDX-License-Identifier: Apache-2.0
// Metrics against arithmetic on paper; every number here is exact in double, so equality is meant.
#include <ofp8/ofp8.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"

using namespace ofp8;

namespace {
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
using row = std::vector<float>;
}  // namespace

TEST_CASE("errors of a row: signal to noise, largest, mean, cosine", "[ops][metrics]") {
  // Errors 0, 0.5, -1: noise 1.25; signal 1 + 4 + 9 = 14; 14 / 1.25 = 11.2.
  const row r{1, 2, 3}, a{1, 1.5, 4};
  CHECK(sqnr_db(r, a) == 10.0 * std::log10(14.0 / 1.25));
  CHECK(max_abs_error(r, a) == 1.0);
  CHECK(mean_abs_error(r, a) == 0.5);
  // r.a = 1 + 3 + 12 = 16, |a|^2 = 1 + 2.25 + 16 = 19.25.
  CHECK(cosine_similarity(r, a) == 16.0 / (std::sqrt(14.0) * std::sqrt(19.25)));
  CHECK(sqnr_db(row{100}, row{99}) == 40.0);
  CHECK(cosine_similarity(row{1, 0}, row{0, 5}) == 0.0);
  CHECK(cosine_similarity(row{3, 4}, row{-3, -4}) == -1.0);
}

TEST_CASE("matrices, views and element types mix", "[ops][metrics]") {
  matrix<float> r(2, 2);
  r(0, 0) = 1, r(0, 1) = 2, r(1, 0) = 3, r(1, 1) = 4;
  matrix<bf16> a(2, 2);
  for (std::ptrdiff_t i = 0; i < 2; ++i)
    for (std::ptrdiff_t j = 0; j < 2; ++j) a(i, j) = convert<bf16>(r(i, j));
  a(1, 1) = convert<bf16>(6.0f);
  CHECK(max_abs_error(r, a) == 2.0);
  CHECK(mean_abs_error(r.view(), a) == 0.5);

  // A view does not see what lies between its rows.
  matrix<float> wide(2, 5);
  wide(0, 4) = wide(1, 3) = 1000.0f;
  CHECK(max_abs_error(matrix_view<const float>(wide.data(), 2, 2, 5), r) == 4.0);

  const std::array<double, 2> doubles{1.0, 0.1};
  const fp16 halves[2] = {convert<fp16>(1.0f), convert<fp16>(0.1f)};
  CHECK(max_abs_error(doubles, halves) == std::abs(0.1 - static_cast<double>(convert<fp16>(0.1f))));
}

TEST_CASE("nothing to measure, nothing that differs, nothing but zeros", "[ops][metrics]") {
  const row none, zero{0, -0.0f}, some{1, -2};
  CHECK(max_abs_error(none, none) == 0.0);
  CHECK(mean_abs_error(none, none) == 0.0);
  CHECK(sqnr_db(none, none) == inf);
  CHECK(cosine_similarity(none, none) == 1.0);
  CHECK(sqnr_db(some, some) == inf);
  CHECK(sqnr_db(zero, some) == -inf);
  CHECK(cosine_similarity(zero, zero) == 1.0);
  CHECK(cosine_similarity(zero, some) == 0.0);
  CHECK(cosine_similarity(some, zero) == 0.0);
}

TEST_CASE("a NaN anywhere makes every metric NaN", "[ops][metrics]") {
  const std::pair<row, row> pairs[] = {{{1, not_a_number, 5}, {1, 2, 3}},
                                       {{1, 2, 3}, {9, not_a_number, 3}},
                                       {{0, 0, 0}, {0, not_a_number, 0}}};
  for (const auto& [r, a] : pairs) {
    CHECK(std::isnan(sqnr_db(r, a)));
    CHECK(std::isnan(max_abs_error(r, a)));
    CHECK(std::isnan(mean_abs_error(r, a)));
    CHECK(std::isnan(cosine_similarity(r, a)));
  }
  CHECK(std::isnan(max_abs_error(row{inf}, row{inf})));
  CHECK(max_abs_error(row{inf}, row{1}) == inf);
}

TEST_CASE("large sums stay exact where floats would not", "[ops][metrics]") {
  row r(1 << 20, 4096.0f), a = r;
  a[5] = 4097.0f;
  CHECK(mean_abs_error(r, a) == 0x1p-20);
  CHECK(sqnr_db(r, a) == 10.0 * std::log10(0x1p44));
}

TEST_CASE("metrics do not depend on the caller's rounding mode", "[ops][metrics]") {
  const row r{0.1f, 0.7f, 1e-40f, 3.3f}, a{0.11f, 0.69f, 2e-40f, 3.0f};
  const double sqnr = sqnr_db(r, a), mean = mean_abs_error(r, a), cosine = cosine_similarity(r, a);
  bool same = true;
  ofp8::test::for_each_fp_environment([&] {
    const bool equal_now =
        sqnr_db(r, a) == sqnr && mean_abs_error(r, a) == mean && cosine_similarity(r, a) == cosine;
    same = same && equal_now;
  });
  CHECK(same);
}

TEST_CASE("metrics refuse shapes that differ", "[ops][metrics][errors]") {
  const auto message = [](auto&& f) -> std::string {
    try {
      (void)f();
    } catch (const shape_error& e) {
      return e.what();
    }
    return "";
  };
  matrix<float> a(2, 3), b(3, 2);
  CHECK(message([&] { return sqnr_db(a, b); }) ==
        "sqnr_db: reference is 2x3, approximation is 3x2: shapes differ");
  CHECK(message([&] { return max_abs_error(row(4), row(5)); }) ==
        "max_abs_error: reference is 1x4, approximation is 1x5: shapes differ");
  CHECK(message([&] { return mean_abs_error(row(4), row(5)); }).find("mean_abs_error: ") == 0);
  CHECK(message([&] { return cosine_similarity(row(4), row(5)); }).find("cosine_similarity: ") == 0);
}
