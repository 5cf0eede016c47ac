// SPDX-License-Identifier: Apache-2.0
// The five knobs of a conversion, one by one: rounding, finite overflow, infinity, NaN code, NaN sign.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/policy.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using test::float_of;

namespace {

// clang 14 takes template arguments of class type only as named constants in some contexts; so do readers.
constexpr policy truncating{.rounding = rounding_mode::toward_zero};
constexpr policy truncating_nonfinite{.rounding = rounding_mode::toward_zero,
                                      .on_overflow = overflow_rule::nonfinite,
                                      .on_infinity = overflow_rule::nonfinite};

static_assert(policy{} == saturating, "the default is saturating, to nearest even");
static_assert(saturating != nonsaturating &&
              nonsaturating ==
                  policy{.on_overflow = overflow_rule::nonfinite, .on_infinity = overflow_rule::nonfinite});

/// What a policy must give: each knob decides its own column and no other.
template <class E>
test::specials specials_of(const policy& p) {
  const test::layout& l = test::layout_of<E>;
  const unsigned canonical = l.minus_zero ? 0x7f : 0x80;
  const unsigned nan = p.nan_code == nan_code::canonical ? canonical : static_cast<unsigned>(p.nan_code);
  const unsigned beyond = std::same_as<E, e5m2> ? 0x7c : canonical;
  const auto rule = [&](overflow_rule r) {
    const unsigned code = r == overflow_rule::saturate ? l.largest : beyond;
    return std::array{code, code | 0x80};
  };
  return {{nan, p.nan_sign == nan_sign::keep ? nan | 0x80 : nan}, rule(p.on_infinity), rule(p.on_overflow)};
}

template <class E, policy P>
void check_policy(test::differences& d) {
  const test::specials codes = specials_of<E>(P);
  const auto direction = P.rounding == rounding_mode::nearest_even ? test::direction::nearest_even
                                                                   : test::direction::toward_zero;
  for (const std::uint32_t bits : test::stratified_floats())
    d.check(convert<E, P>(float_of(bits)).bits(), test::expected_of_float<E>(bits, codes, direction), bits,
            "float");
  for (const double value : test::tricky_doubles(test::lattice_of<E>()))
    d.check(convert<E, P>(value).bits(), test::expected<E>(value, codes, direction),
            test::bits_of_double(value), "double");
  for (int i = -600; i < 70000; i += i < 600 ? 1 : 97) {
    const auto magnitude = static_cast<std::uint64_t>(i < 0 ? -i : i);
    d.check(convert<E, P>(i).bits(), test::expected_of_integer<E>(i < 0, magnitude, codes, direction),
            magnitude, "int");
  }
}

/// All combinations of rounding, overflow, infinity and NaN sign with one NaN code.
template <class E, nan_code N>
void check_knobs(test::differences& d) {
  constexpr auto nearest = rounding_mode::nearest_even, truncate = rounding_mode::toward_zero;
  constexpr auto sat = overflow_rule::saturate, non = overflow_rule::nonfinite;
  constexpr auto drop = nan_sign::drop, keep = nan_sign::keep;
  check_policy<E, policy{nearest, sat, sat, N, drop}>(d);
  check_policy<E, policy{nearest, sat, sat, N, keep}>(d);
  check_policy<E, policy{nearest, sat, non, N, drop}>(d);
  check_policy<E, policy{nearest, sat, non, N, keep}>(d);
  check_policy<E, policy{nearest, non, sat, N, drop}>(d);
  check_policy<E, policy{nearest, non, sat, N, keep}>(d);
  check_policy<E, policy{nearest, non, non, N, drop}>(d);
  check_policy<E, policy{nearest, non, non, N, keep}>(d);
  check_policy<E, policy{truncate, sat, sat, N, drop}>(d);
  check_policy<E, policy{truncate, sat, non, N, keep}>(d);
  check_policy<E, policy{truncate, non, sat, N, drop}>(d);
  check_policy<E, policy{truncate, non, non, N, keep}>(d);
}

template <class E, policy P>
concept accepts = detail::fits(E::spec, P);
static_assert(accepts<e5m2, policy{.nan_code = nan_code::code_7d}> &&
              accepts<e5m2, policy{.nan_code = nan_code::code_7e}>);
static_assert(accepts<e4m3, policy{.nan_code = nan_code::code_7f}> && accepts<e4m3fnuz, saturating>);
static_assert(!accepts<e4m3, policy{.nan_code = nan_code::code_7e}>, "7e is 448");
static_assert(!accepts<e4m3fnuz, policy{.nan_code = nan_code::code_7f}>, "7f is 240");
static_assert(!accepts<e5m2fnuz, policy{.nan_code = nan_code::code_7d}>);

}  // namespace

TEST_CASE("the knobs are independent of each other", "[policy]") {
  test::differences d;
  check_knobs<e4m3, nan_code::canonical>(d);
  check_knobs<e4m3, nan_code::code_7f>(d);
  check_knobs<e5m2, nan_code::canonical>(d);
  check_knobs<e5m2, nan_code::code_7d>(d);
  check_knobs<e5m2, nan_code::code_7e>(d);
  check_knobs<e5m2, nan_code::code_7f>(d);
  check_knobs<e4m3fnuz, nan_code::canonical>(d);
  check_knobs<e5m2fnuz, nan_code::canonical>(d);
  CHECK(d.report() == "");
}

TEST_CASE("toward zero overflows only where the next value of the binade would be", "[policy]") {
  CHECK(convert<e4m3, truncating_nonfinite>(479.99f).bits() == 0x7e);
  CHECK(convert<e4m3, truncating_nonfinite>(480.0f).bits() == 0x7f);
  CHECK(convert<e4m3, truncating_nonfinite>(-480.0f).bits() == 0xff);
  CHECK(convert<e5m2, truncating_nonfinite>(65535.99f).bits() == 0x7b);
  CHECK(convert<e5m2, truncating_nonfinite>(65536.0f).bits() == 0x7c);
  CHECK(convert<e4m3fnuz, truncating_nonfinite>(255.99f).bits() == 0x7f);
  CHECK(convert<e4m3fnuz, truncating_nonfinite>(256.0f).bits() == 0x80);
  CHECK(convert<e4m3, truncating>(480.0f).bits() == 0x7e);
  CHECK(convert<e4m3, truncating>(-1e30f).bits() == 0xfe);
  CHECK(convert<e4m3, truncating>(0x1.fffffep-10f).bits() == 0x00);
  CHECK(convert<e4m3fnuz, truncating>(-0x1.fffffep-11f).bits() == 0x00);  // no minus zero to truncate to
}

// gfloat rounds toward zero without ever leaving the finite range, whatever the size; infinity stays outside it.
TEST_CASE("toward zero gives what gfloat's TowardZero gives", "[policy][golden]") {
  const test::golden_table table("codec_f32.tsv");
  const auto check = [&](auto target, const std::string& name) {
    using E = decltype(target);
    const std::size_t input = table.column("bits"), column = table.column(name + "_gf_rtz");
    test::differences d;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto bits = static_cast<std::uint32_t>(test::hex(table.cell(row, input)));
      if ((bits & 0x7fff'ffff) >= 0x7f80'0000) continue;
      d.check(convert<E, truncating>(float_of(bits)).bits(), test::hex(table.cell(row, column)), bits,
              "gfloat rtz");
    }
    CHECK(d.checked() > 5000);
    CHECK(d.report() == "");
  };
  check(e4m3{}, "e4m3fn");
  check(e5m2{}, "e5m2");
  check(e4m3fnuz{}, "e4m3fnuz");
  check(e5m2fnuz{}, "e5m2fnuz");
}

namespace {

constexpr policy random_rounding{.rounding = rounding_mode::stochastic};
constexpr policy random_nonfinite{.rounding = rounding_mode::stochastic,
                                  .on_overflow = overflow_rule::nonfinite,
                                  .on_infinity = overflow_rule::nonfinite};
static_assert(convert<e4m3, random_rounding>(1.0625f, 0x7fff'ffff, 32).bits() == 0x38);
static_assert(convert<e4m3, random_rounding>(1.0625f, 0x8000'0000, 32).bits() == 0x39);

template <class E, policy P>
unsigned expected_stochastic(double value, std::uint32_t random, int count) {
  const auto bits = test::bits_of_double(value);
  const bool negative = bits >> 63 != 0;
  const test::specials codes = specials_of<E>(P);
  if (value != value) return codes.nan[0];  // both policies drop the sign
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return codes.infinity[negative];
  const test::lattice& l = test::lattice_of<E>();
  return l.code(l.stochastic(magnitude, random, count), negative, codes);
}

}  // namespace

TEMPLATE_TEST_CASE("stochastic rounding adds bits / 2^nbits of a unit and truncates", "[policy]", e4m3, e5m2,
                   e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  test::random_source random(11);
  test::differences d;
  const auto check = [&](auto value) {
    for (const int count : {1, 4, 8, 16, 31, 32}) {
      const std::uint32_t mask = count == 32 ? ~0u : (1u << count) - 1;
      for (const std::uint32_t bits : {0u, 1u & mask, mask, random.bits32() & mask}) {
        const auto input = test::bits_of_double(static_cast<double>(value));
        d.check(convert<E, random_rounding>(value, bits, count).bits(),
                expected_stochastic<E, random_rounding>(static_cast<double>(value), bits, count), input,
                "saturating");
        d.check(convert<E, random_nonfinite>(value, bits, count).bits(),
                expected_stochastic<E, random_nonfinite>(static_cast<double>(value), bits, count), input,
                "nonfinite");
        d.check(convert<E, random_rounding>(value, bits | ~mask, count).bits(),
                convert<E, random_rounding>(value, bits, count).bits(), input, "higher bits are ignored");
      }
    }
  };
  for (const std::uint32_t bits : test::stratified_floats()) {
    if (bits % 3 == 0) check(float_of(bits));
  }
  for (const double value : test::tricky_doubles(test::lattice_of<E>())) check(value);
  CHECK(d.report() == "");
}

TEST_CASE("stochastic rounding gives what gfloat's StochasticFastest gives", "[policy][golden]") {
  const test::golden_table table("codec_stochastic.tsv");
  REQUIRE(table.rows() == 1280);
  test::differences d;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto bits = static_cast<std::uint32_t>(test::hex(table.cell(row, "bits")));
    const int count = std::stoi(table.cell(row, "nbits"));
    const auto random = static_cast<std::uint32_t>(test::hex(table.cell(row, "random")));
    const auto check = [&](auto target) {
      using E = decltype(target);
      d.check(convert<E, random_rounding>(float_of(bits), random, count).bits(),
              test::hex(table.cell(row, "fastest_sat")), bits, "saturating");
      d.check(convert<E, random_nonfinite>(float_of(bits), random, count).bits(),
              test::hex(table.cell(row, "fastest")), bits, "nonfinite");
    };
    if (table.cell(row, "format") == "e4m3fn")
      check(e4m3{});
    else
      check(e5m2{});
  }
  CHECK(d.checked() == 2 * 1280);
  CHECK(d.report() == "");
}

TEST_CASE("stochastic rounding is unbiased over all its bits", "[policy]") {
  // Over all 2^12 random values the mean of the results is the input exactly when the input's surplus is a
  // multiple of 2^-12 units. All terms are dyadic, so the sum is exact too.
  for (const float value : {1.0f + 5.0f / 32768, 0.7109375f, 447.9921875f, 0x1.8p-10f, 255.96875f}) {
    double sum = 0;
    for (std::uint32_t bits = 0; bits < 4096; ++bits)
      sum += double(convert<e4m3, random_rounding>(value, bits, 12));
    CHECK(sum / 4096 == static_cast<double>(value));
  }
}
