// SPDX-License-Identifier: Apache-2.0
// The exact sums against arithmetic on paper, and against double where double is exact.
#include <ofp8/reference/exact.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace ofp8;
using reference::exact_accumulator;

namespace {

template <class E>
std::vector<E> codes(std::initializer_list<float> values) {
  std::vector<E> v;
  for (float x : values) v.push_back(convert<E>(x));
  return v;
}

template <class E>
std::vector<E> random_codes(std::size_t n, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<E> v(n);
  for (E& x : v) {
    do x = E::from_bits(bits() & 0xff);
    while (!isfinite(x));
  }
  return v;
}

constexpr float inf = std::numeric_limits<float>::infinity();
const float quiet_nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("64 bits hold as many products as the widths of the lattices allow", "[reference][exact]") {
  // E4M3: 448 / 2^-9 = 229,376 has 18 bits, so 2^(63 - 36) products. E5M2: 57344 / 2^-16 has 32 bits.
  STATIC_REQUIRE(reference::lattice_bits(e4m3_format::spec) == 18);
  STATIC_REQUIRE(reference::lattice_bits(e5m2_format::spec) == 32);
  STATIC_REQUIRE(reference::products_in_64_bits<e4m3, e4m3> == 134'217'728);
  STATIC_REQUIRE(reference::products_in_64_bits<e4m3, e5m2> == 8192);
  STATIC_REQUIRE((reference::products_in_64_bits<e5m2, e5m2>) == 0);
  STATIC_REQUIRE((reference::products_in_64_bits<e5m2fnuz, e5m2fnuz>) == 0);
  // The worst case really fits: 2^27 products of 229,376^2, which is 49 * 2^12 squared in units of 2^-9.
  const long double worst = 134'217'728.0L * 229'376.0L * 229'376.0L;
  CHECK(worst < 9223372036854775808.0L);
}

TEST_CASE("an E4M3 dot product equals its sum in double, which is exact", "[reference][exact]") {
  // Products are multiples of 2^-18 below 2^18; 4096 of them stay below 2^30: 48 bits, a double holds 53.
  const auto a = random_codes<e4m3>(4096, 1), b = random_codes<e4m3>(4096, 2);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += double(a[k]) * double(b[k]);
  const reference::exact_sum exact = reference::exact_dot(a.data(), b.data(), 4096);
  CHECK(exact.exponent == -18);
  CHECK(std::ldexp(static_cast<double>(exact.units), exact.exponent) == sum);
}

TEST_CASE("an E4M3 x E5M2 sum longer than 64 bits hold is cut into chunks", "[reference][exact]") {
  const std::vector<e4m3> a(20'000, convert<e4m3>(448.0f));
  const std::vector<e5m2> b(20'000, convert<e5m2>(57344.0f));
  const reference::exact_sum exact = reference::exact_dot(a.data(), b.data(), 20'000);
  // 20,000 * 448 * 57,344 = 513,802,240,000 in units of 2^-25.
  CHECK(std::ldexp(static_cast<double>(exact.units), exact.exponent) == 513'802'240'000.0);
}

TEST_CASE("E5M2's largest and smallest products meet without loss", "[reference][exact]") {
  const auto a = codes<e5m2>({57344.0f, 0x1p-16f, -57344.0f});
  const auto b = codes<e5m2>({57344.0f, 0x1p-16f, 57344.0f});
  const reference::exact_sum exact = reference::exact_dot(a.data(), b.data(), 3);
  CHECK(exact.exponent == -32);
  CHECK(static_cast<long long>(exact.units) == 1);
}

TEST_CASE("special values follow IEEE", "[reference][exact]") {
  const auto one = codes<e5m2>({1.0f, 1.0f});
  const auto zero = codes<e5m2>({0.0f, 0.0f});
  std::vector<e5m2> a{e5m2::from_bits(0x7c), convert<e5m2>(1.0f)};
  CHECK(reference::exact_dot(a.data(), one.data(), 2).plus_infinity);
  CHECK(reference::exact_dot(a.data(), zero.data(), 2).is_nan);
  a[1] = e5m2::from_bits(0xfc);
  CHECK(reference::exact_dot(a.data(), one.data(), 2).is_nan);
  a[0] = e5m2::from_bits(0x7e);
  CHECK(reference::exact_dot(a.data(), one.data(), 1).is_nan);
}

TEST_CASE("the accumulator cancels over its whole range and rounds once", "[reference][exact]") {
  exact_accumulator v;
  const float top = std::numeric_limits<float>::max(), bottom = std::numeric_limits<float>::denorm_min();
  v.add_product(top, top, top, top);
  v.add_product(bottom, bottom, bottom, bottom);
  v.add_product(-top, top, top, top);
  v.add_product(bottom, -bottom, bottom, bottom);
  v.add(0x1p-149f);
  CHECK(v.rounded<float>() == 0x1p-149f);

  // 1 + 2^-24 is a tie for float and goes to even; 2^-149 more decides it.
  exact_accumulator tie;
  tie.add(1.0f);
  tie.add(0x1p-24f);
  CHECK(tie.rounded<float>() == 1.0f);
  CHECK(tie.rounded<double>() == 1.0 + 0x1p-24);
  tie.add(bottom);
  CHECK(tie.rounded<float>() == 1.0f + 0x1p-23f);
  tie.add(-bottom);
  tie.add(-bottom);
  CHECK(tie.rounded<float>() == 1.0f);
}

TEST_CASE("negative sums, zero and overflow round as IEEE has it", "[reference][exact]") {
  exact_accumulator v;
  v.add(-3.0f);
  CHECK(v.rounded<float>() == -3.0f);
  CHECK(v.rounded<double>() == -3.0);
  CHECK(v.rounded<e4m3>().bits() == 0xc4);
  v.add(3.0f);
  CHECK(detail::bits_of(v.rounded<float>()) == 0);
  v.add_product(std::numeric_limits<float>::max(), -2.0f, 1.0f, 1.0f);
  CHECK(v.rounded<float>() == -inf);
  CHECK(v.rounded<fp16>().bits() == 0xfc00);
  v.add(inf);
  CHECK(v.rounded<float>() == inf);
  v.add(-inf);
  CHECK(detail::bits_of(v.rounded<float>()) == 0x7fc00000u);
}

TEST_CASE("a quotient is exact before its one rounding", "[reference][exact]") {
  // 1.0625 / 1 is the tie between 1 and 1.125 and goes to 1; an ulp of the divisor less, and it goes up.
  exact_accumulator v;
  v.add(1.0625f);
  CHECK(float(v.quotient<e4m3>(1.0f)) == 1.0f);
  CHECK(float(v.quotient<e4m3>(std::nextafter(1.0f, 0.0f))) == 1.125f);
  CHECK(float(v.quotient<e4m3>(-2.0f)) == -0.53125f + 0.03125f);  // -0.53125 is a tie: to even, -0.5
  // fl(17 / 3 * 3 / 16) hides nothing: 17/16 * 3 over 3.
  exact_accumulator w;
  w.add_product(1.0625f, 3.0f, 1.0f, 1.0f);
  w.add(0x1p-149f);
  CHECK(float(w.quotient<e4m3>(3.0f)) == 1.125f);
}

TEST_CASE("the exact GEMM equals double arithmetic where that is exact", "[reference][exact]") {
  // E4M3 codes and power-of-two scales: every term is a multiple of 2^-30 below 2^30.
  const std::ptrdiff_t m = 3, n = 4, k = 257;
  const auto a = random_codes<e4m3>(static_cast<std::size_t>(m * k), 3),
             b = random_codes<e4m3>(static_cast<std::size_t>(n * k), 4);
  matrix<float> sa(m, 5), sb(1, 3);
  for (std::ptrdiff_t i = 0; i < m; ++i)
    for (std::ptrdiff_t j = 0; j < 5; ++j) sa(i, j) = std::ldexp(1.0f, static_cast<int>((i + 2 * j) % 5) - 2);
  for (std::ptrdiff_t j = 0; j < 3; ++j) sb(0, j) = std::ldexp(1.0f, static_cast<int>(j) - 1);
  const scaled_view<const e4m3, per_group<64>> av{matrix_view<const e4m3>(a.data(), m, k), sa.view()};
  const scaled_view<const e4m3, block_wise<128, 128>> bv{matrix_view<const e4m3>(b.data(), n, k), sb.view()};
  matrix<double> d(m, n);
  reference::gemm_nt_exact(av, bv, d);
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::ptrdiff_t x = 0; x < k; ++x)
        sum += double(av.codes()(i, x)) * double(bv.codes()(j, x)) * double(sa(i, x / 64)) *
               double(sb(0, x / 128));
      CHECK(d(i, j) == sum);
    }
  }
}

TEST_CASE("NaN and infinite scales reach the exact GEMM's output", "[reference][exact]") {
  const auto a = codes<e4m3>({1.0f}), b = codes<e4m3>({2.0f});
  matrix<float> d(1, 1), s(1, 1), one(1, 1);
  one(0, 0) = 1.0f;
  const auto run = [&](float scale) {
    s(0, 0) = scale;
    reference::gemm_nt_exact(
        scaled_view<const e4m3, per_token>{matrix_view<const e4m3>(a.data(), 1, 1), s.view()},
        scaled_view<const e4m3, per_channel>{matrix_view<const e4m3>(b.data(), 1, 1), one.view()}, d);
    return d(0, 0);
  };
  CHECK(run(-inf) == -inf);
  CHECK(detail::bits_of(run(quiet_nan)) == 0x7fc00000u);
  CHECK(run(0.0f) == 0.0f);
}
