// SPDX-License-Identifier: Apache-2.0
// convert<E>(x): one rounding from the exact value, whatever the source type, under every preset.
#include <cstdint>
#include <limits>
#include <vector>

#include <ofp8/core/convert.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using test::float_of;

namespace {

// The examples of the documentation, at compile time.
constexpr e4m3 x = convert<e4m3>(0.3f);
static_assert(x.bits() == 0x2a && float(x) == 0.3125f);
static_assert(convert<e4m3>(1e9f) == e4m3::from_bits(0x7e));
static_assert(isnan(convert<e4m3, like_ml_dtypes>(1e9f)));
static_assert(convert<e4m3>(-1e9).bits() == 0xfe && convert<e5m2, nonsaturating>(1e9).bits() == 0x7c);
static_assert(convert<e4m3>(464.0f).bits() == 0x7e &&
              convert<e4m3, nonsaturating>(0x1.d00002p8f).bits() == 0x7f);
static_assert(convert<e4m3fnuz>(-0.0f).bits() == 0x00 && convert<e4m3>(-0.0f).bits() == 0x80);
static_assert(convert<e4m3>(bf16::from_bits(0x3f80)).bits() == 0x38 &&
              convert<e4m3>(fp16::from_bits(0x3c00)).bits() == 0x38);
static_assert(convert<e4m3fnuz>(convert<e4m3>(1)).bits() == 0x40 &&
              convert<e4m3>(convert<e4m3fnuz>(1)).bits() == 0x38);
static_assert(convert<e4m3, policy{.rounding = rounding_mode::toward_zero}>(0x1.fffffep0f).bits() == 0x3f);
static_assert(convert<float>(convert<e5m2>(1.25f)) == 1.25f && convert<double>(convert<bf16>(1.5f)) == 1.5);

// Narrowing a double to float before rounding gives 00, 38, 7e.
static_assert(convert<e4m3, nonsaturating>(0x1.0000000001p-10).bits() == 0x01);
static_assert(convert<e4m3, nonsaturating>(0x1.1000000001p0).bits() == 0x39);
static_assert(convert<e4m3, nonsaturating>(0x1.d000000000001p8).bits() == 0x7f);
static_assert(convert<e4m3, saturating>(0x1.d000000000001p8).bits() == 0x7e);

template <class E, class Int>
void check_integer(Int value, test::differences& d) {
  const bool negative = value < Int{0};
  const auto wide = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? 0 - wide : wide;
  test::for_each_preset([&](const auto& preset) {
    const E got = convert<E, std::decay_t<decltype(preset)>::value>(value);
    const auto& codes = preset.template codes<E>();
    d.check(got.bits(), test::expected_of_integer<E>(negative, magnitude, codes), wide, preset.name);
  });
}

template <class Int>
std::vector<Int> integers() {
  std::vector<Int> values;
  const auto lowest = (std::numeric_limits<Int>::min)();
  const auto largest = (std::numeric_limits<Int>::max)();
  if constexpr (sizeof(Int) == 1) {
    for (int i = lowest; i <= largest; ++i) values.push_back(static_cast<Int>(i));
  } else {
    for (std::int64_t i = -70000; i <= 70000; i += 1 + (i < -600 || i > 600) * 6) {
      if (std::is_signed_v<Int>
              ? i >= std::int64_t{lowest} && i <= std::int64_t(largest)
              : i >= 0 && static_cast<std::uint64_t>(i) <= static_cast<std::uint64_t>(largest))
        values.push_back(static_cast<Int>(i));
    }
    test::random_source random(5);
    for (int i = 0; i < 200; ++i) values.push_back(static_cast<Int>(random.bits64() >> random.below(64)));
    for (int i = 0; i < 3; ++i) {
      values.push_back(static_cast<Int>(lowest + static_cast<Int>(i)));
      values.push_back(static_cast<Int>(largest - static_cast<Int>(i)));
    }
  }
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("a float is rounded once, to nearest even, under every preset", "[convert]", e4m3, e5m2,
                   e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  std::vector<std::uint32_t> inputs = test::stratified_floats();
  test::random_source random(1);
  for (int i = 0; i < 20000; ++i) inputs.push_back(random.bits32());
  test::differences d;
  test::for_each_preset([&](const auto& preset) {
    const auto& codes = preset.template codes<E>();
    for (const std::uint32_t bits : inputs) {
      const E got = convert<E, std::decay_t<decltype(preset)>::value>(float_of(bits));
      d.check(got.bits(), test::expected_of_float<E>(bits, codes), bits, preset.name);
    }
  });
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("a double is rounded once, not through float, under every preset", "[convert]", e4m3, e5m2,
                   e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  test::differences d;
  int traps = 0;  // inputs for which the way through float gives another code
  test::for_each_preset([&](const auto& preset) {
    constexpr auto P = std::decay_t<decltype(preset)>::value;
    const auto& codes = preset.template codes<E>();
    for (const double value : test::tricky_doubles(test::lattice_of<E>())) {
      const unsigned got = convert<E, P>(value).bits();
      d.check(got, test::expected<E>(value, codes), test::bits_of_double(value), preset.name);
      traps += got != convert<E, P>(static_cast<float>(value)).bits();
    }
  });
  CHECK(d.report() == "");
  CHECK(traps > 1000);
}

TEMPLATE_TEST_CASE("every integer type is rounded once under every preset", "[convert]", signed char,
                   unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long,
                   unsigned long long) {
  test::differences d;
  for (const TestType value : integers<TestType>()) {
    test::for_each_fp8([&](auto target) { check_integer<decltype(target)>(value, d); });
  }
  CHECK(d.checked() > 8000);
  CHECK(d.report() == "");
}

TEST_CASE("an FP8 value of one format becomes that of another by one rounding", "[convert]") {
  test::differences d;
  test::for_each_fp8([&](auto source) {
    using From = decltype(source);
    test::for_each_fp8([&](auto target) {
      using To = decltype(target);
      test::for_each_preset([&](const auto& preset) {
        const auto& codes = preset.template codes<To>();
        for (unsigned code = 0; code < 256; ++code) {
          const auto from = From::from_bits(code);
          const unsigned got = convert<To, std::decay_t<decltype(preset)>::value>(from).bits();
          d.check(got, test::expected_of_float<To>(test::bits_of_float(float(from)), codes), code,
                  preset.name);
        }
      });
    });
  });
  CHECK(d.checked() == 4 * 4 * 8 * 256);
  CHECK(d.report() == "");
}

TEST_CASE("a byte read in the other OCP or FNUZ format means half or twice the value", "[convert]") {
  test::differences d;
  for (unsigned code = 0; code < 256; ++code) {
    const auto ocp = e4m3::from_bits(code);
    const auto fnuz = e4m3fnuz::from_bits(code);
    if ((code & 0x7f) == 0x7f || code == 0x80) continue;  // NaN in the one or the other
    d.check(test::bits_of_float(2 * float(fnuz)), test::bits_of_float(float(ocp)), code);
  }
  CHECK(d.report() == "");
}

TEST_CASE("convert does not depend on the floating-point environment", "[convert]") {
  const std::vector<std::uint32_t> inputs = test::stratified_floats();
  const std::vector<double> doubles = test::tricky_doubles(test::lattice_of<e4m3>());
  std::vector<std::uint64_t> subnormal_doubles;
  for (const double value : doubles) subnormal_doubles.push_back(test::bits_of_double(value));
  test::differences d;
  const auto& codes = std::get<0>(test::presets);
  std::vector<unsigned> wanted_e4m3, wanted_e5m2, wanted_from_double;
  for (const std::uint32_t bits : inputs) {
    wanted_e4m3.push_back(test::expected_of_float<e4m3>(bits, codes.e4m3_codes));
    wanted_e5m2.push_back(test::expected_of_float<e5m2>(bits, codes.e5m2_codes));
  }
  for (const double value : doubles)
    wanted_from_double.push_back(test::expected<e4m3>(value, codes.e4m3_codes));
  test::for_each_fp_environment([&] {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      d.check(convert<e4m3>(float_of(inputs[i])).bits(), wanted_e4m3[i], inputs[i], "e4m3");
      d.check(convert<e5m2>(float_of(inputs[i])).bits(), wanted_e5m2[i], inputs[i], "e5m2");
    }
    for (std::size_t i = 0; i < doubles.size(); ++i) {
      const double value = test::double_of(subnormal_doubles[i]);
      d.check(convert<e4m3>(value).bits(), wanted_from_double[i], subnormal_doubles[i], "from double");
    }
  });
  CHECK(d.report() == "");
}
