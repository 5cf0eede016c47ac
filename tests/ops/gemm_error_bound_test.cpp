// SPDX-License-Identifier: Apache-2.0
// The derived bound of the FP32 sum against the exact sum, and distances in units in the last place.
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/exact.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

matrix<float> noise(std::ptrdiff_t rows, std::ptrdiff_t cols, std::uint32_t seed, float low) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(low, 1.0f);
  matrix<float> m(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < cols; ++c) m(r, c) = uniform(random);
  return m;
}

// sum_k |sa a| |sb b| in double, whose own error is some 2^-52 k of it: far below the slack that the test allows.
template <class A, class B>
double magnitudes(const A& a, const B& b, std::ptrdiff_t m, std::ptrdiff_t n) {
  double sum = 0;
  for (std::ptrdiff_t k = 0; k < a.cols(); ++k) {
    sum += std::abs(double(a.codes()(m, k)) * double(a.scale_at(m, k))) *
           std::abs(double(b.codes()(n, k)) * double(b.scale_at(n, k)));
  }
  return sum;
}

// Checks every output, and returns the largest share of the bound that an error took.
template <class A, class B>
double check_bound(const A& a, const B& b, sum_shape shape, const std::vector<float>& bias) {
  matrix<float> d(a.rows(), b.rows());
  matrix<double> exact(a.rows(), b.rows());
  gemm_nt(a, b, d, {.bias = bias});
  reference::gemm_nt_exact(a, b, exact, {.bias = bias});
  double worst = 0;
  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      const double t = bias.empty() ? 0.0 : std::abs(double(bias[static_cast<std::size_t>(n)]));
      const double bound = fp32_sum_bound(shape, magnitudes(a, b, m, n) + t);
      const double error = std::abs(double(d(m, n)) - exact(m, n));
      CHECK(error <= bound);
      if (bound > 0 && error / bound > worst) worst = error / bound;
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("the FP32 sum keeps the derived bound on every shape", "[gemm][bound]") {
  const std::vector<float> none;
  double worst = 0;
  for (const std::ptrdiff_t k : {1, 2, 15, 16, 17, 127, 128, 129, 500, 2048}) {
    for (const float low : {-1.0f, 0.0f}) {
      const auto a = noise(5, k, static_cast<std::uint32_t>(k), low),
                 w = noise(7, k, static_cast<std::uint32_t>(k) + 1, low);
      const std::vector<float> bias(7, 0.3f);
      const auto at = quantize<e4m3, per_token>(a);
      const auto wc = quantize<e4m3, per_channel>(w);
      const auto ag = quantize<e4m3, per_group<128>>(a);
      const auto wb = quantize<e4m3, block_wise<128, 128>>(w);
      const std::ptrdiff_t segments = (k + 127) / 128;
      worst = std::fmax(worst, check_bound(at, wc, {.longest_segment = k}, none));
      worst = std::fmax(worst, check_bound(at, wc, {.longest_segment = k}, bias));
      worst = std::fmax(
          worst,
          check_bound(ag, wb, {.longest_segment = std::min<std::ptrdiff_t>(k, 128), .segments = segments},
                      none));
      worst = std::fmax(
          worst,
          check_bound(ag, wb, {.longest_segment = std::min<std::ptrdiff_t>(k, 128), .segments = segments},
                      bias));
    }
  }
  // The bound is of use: some error comes within a factor of ten of it (short K, where it is nearly sharp).
  CHECK(worst > 0.1);
}

TEST_CASE("the bound grows with the number of roundings and vanishes with the terms", "[gemm][bound]") {
  CHECK(fp32_sum_bound({.longest_segment = 2}, 1.0) == Approx(4 * 0x1p-24).epsilon(1e-6));
  CHECK(fp32_sum_bound({.longest_segment = 4096}, 1.0) >
        fp32_sum_bound({.longest_segment = 128, .segments = 32}, 1.0));
  CHECK(fp32_sum_bound({.longest_segment = 2}, 0.0) == 0x1p-150);
}

TEST_CASE("ulp_distance counts numbers, across zero and into infinity", "[metrics]") {
  const float tiny = std::numeric_limits<float>::denorm_min(), inf = std::numeric_limits<float>::infinity();
  CHECK(ulp_distance(1.0f, std::nextafter(1.0f, 2.0f)) == 1);
  CHECK(ulp_distance(2.0f, 1.0f) == 1 << 23);
  CHECK(ulp_distance(-tiny, tiny) == 2);
  CHECK(ulp_distance(-0.0f, 0.0f) == 0);
  CHECK(ulp_distance(std::numeric_limits<float>::max(), inf) == 1);
  CHECK(ulp_distance(std::nanf(""), std::nanf("")) == 0);
  CHECK(ulp_distance(1.0f, std::nanf("")) == INT64_MAX);
  CHECK(ulp_distance(convert<bf16>(1.0f), convert<bf16>(1.0078125f)) == 1);
  CHECK(ulp_distance(convert<fp16>(-1.0f), convert<fp16>(1.0f)) == 2 * 0x3c00);
  matrix<float> a(1, 2), b(1, 2), c(2, 1);
  b(0, 1) = 3 * tiny;
  CHECK(max_ulp_distance(a, b) == 3);
  REQUIRE_THROWS_WITH(max_ulp_distance(a, c),
                      "max_ulp_distance: reference is 1x2, approximation is 2x1: shapes differ");
}
