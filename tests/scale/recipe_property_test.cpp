// SPDX-License-Identifier: Apache-2.0
// What holds for every named recipe and any input: all instruction sets agree with the reference, the error is at
// most half a step, codes are monotone, a permutation changes nothing, a slice commutes with dequantize.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <ofp8/ofp8.hpp>
#include <ofp8/reference/quantize.hpp>

#include "tests/catch.hpp"
#include "tests/support/random_matrix.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class Q>
bool same(const Q& a, const Q& b) {
  for (std::ptrdiff_t i = 0; i < a.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < a.scales().cols(); ++j)
      if (!same_bytes(a.scales()(i, j), b.scales()(i, j))) return false;
  for (std::ptrdiff_t r = 0; r < a.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < a.cols(); ++c)
      if (a.codes()(r, c).bits() != b.codes()(r, c).bits()) return false;
  return true;
}

template <class E, class G, class T>
void check_everywhere(const named_recipe& r, const matrix<T>& x) {
  quantize_counts wanted_counts;
  const auto wanted = reference::quantize<E, G>(x, r.how, &wanted_counts);
  for (isa i : available_isas()) {
    INFO(r.name << " on " << name(i));
    scaled_matrix<E, G> got(x.rows(), x.cols());
    quantize_counts counts;
    quantize_into(x, got, counts, r.how, {.isa = i});
    CHECK(same(got, wanted));
    CHECK(counts == wanted_counts);
  }
}

/// Half the distance from a number of E to the next larger one (at the largest: to where it would be).
template <class E>
double half_step(E code) {
  const unsigned magnitude = code.bits() & E::spec.magnitude_mask();
  const unsigned lower = magnitude == E::spec.largest_code() ? magnitude - 1 : magnitude;
  return (double(E::from_bits(lower + 1)) - double(E::from_bits(lower))) / 2;
}

/// Roundings on the way to the quotient, relative: of the product or quotient, of a reciprocal, and of the
/// inverse of which s is the reciprocal; or one to bf16.
template <class T>
double quotient_error(const recipe& r) {
  const bool to_bf16 = r.arithmetic == arithmetic::input_type && std::is_same_v<T, bf16>;
  return to_bf16 ? 0x1p-8 : 3 * 0x1p-24;
}

/// Elements further than half a step from code * s, though x / s is not beyond the largest number's half step.
template <class E, class G, class T>
int beyond_half_a_step(const recipe& r, const matrix<T>& x) {
  const auto q = quantize<E, G>(x, r);
  const double largest = double(std::numeric_limits<E>::max());
  const double limit = largest + half_step(std::numeric_limits<E>::max());
  int wrong = 0;
  for (std::ptrdiff_t row = 0; row < x.rows(); ++row) {
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c) {
      const double s = double(q.scale_at(row, c)), v = double(float(x(row, c)));
      const double code = double(q.codes()(row, c)), quotient = std::fabs(v) / s;
      if (quotient > limit) {
        wrong += std::fabs(code) == largest ? 0 : 1;
        continue;
      }
      const double bound = half_step(q.codes()(row, c)) + quotient * quotient_error<T>(r);
      wrong += std::fabs(v - code * s) <= s * bound ? 0 : 1;
    }
  }
  return wrong;
}

template <class T>
matrix<T> permuted(const matrix<T>& x, const std::vector<std::ptrdiff_t>& order) {
  matrix<T> y(x.rows(), x.cols());
  for (std::ptrdiff_t r = 0; r < x.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c) y(r, c) = x(r, order[static_cast<std::size_t>(c)]);
  return y;
}

}  // namespace

TEST_CASE("every recipe gives the reference's bytes and counts on every instruction set, any input") {
  random_source random(41);
  for (const named_recipe& r : recipes::all) {
    check_everywhere<e4m3, per_token>(r, random_matrix<float>(random, 6, 77, 5));
    check_everywhere<e4m3, per_group<32>>(r, random_matrix<bf16>(random, 6, 77, 5));
    check_everywhere<e5m2, mx<32>>(r, random_matrix<float>(random, 6, 77, 5));
    check_everywhere<e4m3, mx<32>>(r, random_matrix<bf16>(random, 6, 77, 5));
    check_everywhere<e4m3, block_wise<3, 16>>(r, random_matrix<fp16>(random, 6, 77, 5));
    check_everywhere<e4m3fnuz, scale_block<2, 40, bf16>>(r, random_matrix<float>(random, 6, 77, 5));
    check_everywhere<e4m3, per_tensor>(r, matrix<float>(3, 40));  // zeros
  }
}

TEST_CASE(
    "code times scale is within half a step of the element, or the element saturates, in every recipe") {
  random_source random(42);
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    for (int i = 0; i < 4; ++i) {
      const auto x = random_matrix<float>(random, 16, 128, 4);
      const auto narrow = random_matrix<bf16>(random, 16, 128, 4);
      CHECK((beyond_half_a_step<e4m3, per_token>(r.how, x)) == 0);
      CHECK((beyond_half_a_step<e4m3, per_group<32>>(r.how, narrow)) == 0);
      CHECK((beyond_half_a_step<e5m2, per_group<32>>(r.how, x)) == 0);
      CHECK((beyond_half_a_step<e4m3, mx<32>>(r.how, x)) == 0);
      CHECK((beyond_half_a_step<e4m3, mx<32>>(r.how, narrow)) == 0);
    }
  }
}

TEST_CASE("nothing saturates by the default recipe, at any granularity, power-of-two scales included") {
  random_source random(43);
  for (int i = 0; i < 8; ++i) {
    const auto x = random_matrix<float>(random, 16, 128, 4, 60);
    quantize_counts counts;
    scaled_matrix<e4m3, per_token> rows(16, 128);
    scaled_matrix<e4m3, mx<32>> groups(16, 128);
    quantize_into(x, rows, counts);
    quantize_into(x, groups, counts);
    CHECK(counts.saturated == 0);
  }
}

TEST_CASE("a larger element of a group never gets a smaller code, in any recipe") {
  random_source random(44);
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    for (int i = 0; i < 8; ++i) {
      auto x = random_matrix<float>(random, 1, 200, 4);
      std::sort(x.data(), x.data() + 200);
      const auto tensor = quantize<e4m3, per_tensor>(x, r.how);
      const auto group = quantize<e4m3, mx<256>>(x, r.how);
      int wrong = 0;
      for (std::ptrdiff_t c = 1; c < 200; ++c) {
        wrong += float(tensor.codes()(0, c - 1)) <= float(tensor.codes()(0, c)) ? 0 : 1;
        wrong += float(group.codes()(0, c - 1)) <= float(group.codes()(0, c)) ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a permuted group has the same scale and the permuted codes, in any recipe, NaN and infinity too") {
  random_source random(45);
  std::vector<std::ptrdiff_t> order(100);
  std::iota(order.begin(), order.end(), 0);
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
    const auto x = random_matrix<float>(random, 8, 100, 5);
    const auto q = quantize<e4m3, per_token>(x, r.how),
               p = quantize<e4m3, per_token>(permuted(x, order), r.how);
    int wrong = 0;
    for (std::ptrdiff_t row = 0; row < 8; ++row) {
      wrong += same_bytes(q.scales()(row, 0), p.scales()(row, 0)) ? 0 : 1;
      for (std::ptrdiff_t c = 0; c < 100; ++c)
        wrong +=
            p.codes()(row, c).bits() == q.codes()(row, order[static_cast<std::size_t>(c)]).bits() ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a slice commutes with dequantize, and with quantize where it cuts between groups") {
  random_source random(46);
  const auto x = random_matrix<float>(random, 24, 160, 4);
  const auto check = [&]<class G>(G, std::ptrdiff_t row, std::ptrdiff_t rows_n, std::ptrdiff_t col,
                                  std::ptrdiff_t cols_n) {
    const auto q = quantize<e4m3, G>(x);
    const auto part = columns(rows(q, row, rows_n), col, cols_n);
    const auto all = dequantize(q), some = dequantize(part);
    const matrix_view<const float> cut(&x(row, col), rows_n, cols_n, x.cols());
    const auto again = quantize<e4m3, G>(cut);
    int wrong = 0;
    for (std::ptrdiff_t r = 0; r < rows_n; ++r) {
      for (std::ptrdiff_t c = 0; c < cols_n; ++c) {
        wrong += same_bytes(some(r, c), all(row + r, col + c)) ? 0 : 1;
        wrong += again.codes()(r, c).bits() == part.codes()(r, c).bits() ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  };
  check(per_token{}, 3, 9, 0, 160);
  check(per_group<32>{}, 5, 7, 32, 96);
  check(per_group<32>{}, 0, 24, 128, 32);
  check(block_wise<8, 40>{}, 8, 16, 80, 80);
  check(mx<32>{}, 1, 1, 64, 64);
}

TEST_CASE("multiplying a group by a power of two multiplies its scale and keeps its codes") {
  // Recipes without a floor that these groups reach: s and the quotient scale exactly.
  random_source random(47);
  for (const named_recipe& r : recipes::all) {
    if (r.how.amax_floor > 0 || r.how.scale_floor_divisor > 0) continue;
    INFO(r.name);
    const auto x = random_matrix<float>(random, 8, 96, 4);
    matrix<float> y(8, 96);
    for (std::ptrdiff_t i = 0; i < 8 * 96; ++i) y.data()[i] = x.data()[i] * 0x1p7f;
    const auto q = quantize<e4m3, per_token>(x, r.how), p = quantize<e4m3, per_token>(y, r.how);
    int wrong = 0;
    for (std::ptrdiff_t row = 0; row < 8; ++row) {
      wrong += p.scales()(row, 0) == q.scales()(row, 0) * 0x1p7f ? 0 : 1;
      for (std::ptrdiff_t c = 0; c < 96; ++c)
        wrong += p.codes()(row, c).bits() == q.codes()(row, c).bits() ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}
