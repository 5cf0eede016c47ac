// SPDX-License-Identifier: Apache-2.0
// float8<Format>: one byte, its value, its order, its use as a key.
#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstring>
#include <functional>
#include <set>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/float8.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;

namespace {

template <class E>
constexpr bool is_a_plain_byte = sizeof(E) == 1 && alignof(E) == 1 &&
                                 std::is_trivially_copyable_v<E>&& std::is_trivially_default_constructible_v<
                                     E>&& std::is_standard_layout_v<E> &&
                                 !std::is_aggregate_v<E>;
static_assert(is_a_plain_byte<e4m3> && is_a_plain_byte<e5m2> && is_a_plain_byte<e4m3fnuz> &&
              is_a_plain_byte<e5m2fnuz>);

// Nothing happens in silence: no conversion from a number or to one, no arithmetic, no mixed comparison.
template <class E>
constexpr bool converts_only_when_asked =
    !std::is_convertible_v<float, E> && !std::is_convertible_v<E, float> && !std::is_convertible_v<int, E> &&
    !std::is_convertible_v<E, int> && !std::is_convertible_v<E, bool> && !std::is_constructible_v<E, int> &&
    !std::is_constructible_v<E, float> && !std::is_constructible_v<E, unsigned char> &&
    std::is_constructible_v<float, E> && std::is_constructible_v<double, E>;
static_assert(converts_only_when_asked<e4m3> && converts_only_when_asked<e5m2>);
static_assert(converts_only_when_asked<e4m3fnuz> && converts_only_when_asked<e5m2fnuz>);

template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept equal_comparable = requires(A a, B b) {
  a == b;
};
static_assert(!addable<e4m3, e4m3> && !addable<e4m3, float> && !addable<e5m2, int>);
static_assert(equal_comparable<e4m3, e4m3> && !equal_comparable<e4m3, float> &&
              !equal_comparable<e4m3, e5m2>);

static_assert(std::same_as<decltype(e4m3::from_bits(0).bits()), std::uint8_t>);
static_assert(std::three_way_comparable<e4m3, std::partial_ordering> && std::totally_ordered<e5m2>);

// A structural type: usable as a template argument.
template <e4m3 X>
struct tagged {
  static constexpr float value = float(X);
};
static_assert(tagged<e4m3::from_bits(0x38)>::value == 1.0f);
static_assert(std::same_as<tagged<convert<e4m3>(1)>, tagged<e4m3::from_bits(0x38)>>);

static_assert(float(e4m3::from_bits(0x7e)) == 448.0f && double(e5m2::from_bits(0x01)) == 0x1p-16);
static_assert(std::bit_cast<std::uint8_t>(e4m3::from_bits(0x2a)) == 0x2a &&
              std::bit_cast<e4m3>(std::uint8_t{7}).bits() == 7);

template <class E>
bool document_says_nan(unsigned code) {
  if (!test::layout_of<E>.minus_zero) return code == 0x80;
  if (std::is_same_v<E, e4m3>) return (code & 0x7f) == 0x7f;
  return (code & 0x7f) > 0x7c;
}

template <class E>
bool document_says_infinity(unsigned code) {
  return std::is_same_v<E, e5m2> && (code & 0x7f) == 0x7c;
}

/// The float of a code: sign | 7fc00000 for a NaN code, so ffc00000 for the FNUZ NaN, 80.
template <class E>
std::uint32_t decoded(unsigned code) {
  const std::uint32_t sign = (code & 0x80) << 24;
  if (document_says_nan<E>(code)) return 0x7fc0'0000u | sign;
  if (document_says_infinity<E>(code)) return 0x7f80'0000u | sign;
  return test::bits_of_float(static_cast<float>(std::fabs(test::lattice_value<E>(code)))) | sign;
}

}  // namespace

TEMPLATE_TEST_CASE("all 256 codes decode to the exact value, to a canonical NaN or to infinity", "[float8]",
                   e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  test::differences d;
  std::vector<std::uint64_t> as_double(256);
  for (unsigned code = 0; code < 256; ++code) {
    const E x = E::from_bits(code);
    d.check(x.bits(), code, code, "bits");
    d.check(test::bits_of_float(static_cast<float>(x)), decoded<E>(code), code, "float");
    d.check(test::bits_of_float(convert<float>(x)), decoded<E>(code), code, "convert<float>");
    as_double[code] = test::bits_of_double(static_cast<double>(test::float_of(decoded<E>(code))));
    d.check(test::bits_of_double(convert<double>(x)), as_double[code], code, "convert<double>");
    d.check(isnan(x), document_says_nan<E>(code), code, "isnan");
    d.check(isinf(x), document_says_infinity<E>(code), code, "isinf");
    d.check(isfinite(x), !document_says_nan<E>(code) && !document_says_infinity<E>(code), code, "isfinite");
    d.check(signbit(x), code >= 0x80, code, "signbit");
  }
  test::for_each_fp_environment([&] {
    for (unsigned code = 0; code < 256; ++code) {
      const E x = E::from_bits(code);
      d.check(test::bits_of_float(static_cast<float>(x)), decoded<E>(code), code, "float in any environment");
      d.check(test::bits_of_double(static_cast<double>(x)), as_double[code], code,
              "double in any environment");
    }
  });
  CHECK(d.report() == "");
}

TEST_CASE("minus zero decodes to minus zero where the format has it", "[float8]") {
  CHECK(test::bits_of_float(float(e4m3::from_bits(0x80))) == 0x8000'0000);
  CHECK(test::bits_of_float(float(e5m2::from_bits(0x80))) == 0x8000'0000);
  CHECK(isnan(e4m3fnuz::from_bits(0x80)));
  CHECK(isnan(e5m2fnuz::from_bits(0x80)));
}

TEMPLATE_TEST_CASE("every code survives the way to float, double, bf16, fp16 and back", "[float8]", e4m3,
                   e5m2, e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  test::differences d;
  for (unsigned code = 0; code < 256; ++code) {
    const E x = E::from_bits(code);
    // A NaN comes back as a NaN; its code is the policy's matter.
    const auto same = [&](E y, const char* way) {
      if (isnan(x))
        d.check(isnan(y), true, code, way);
      else
        d.check(y.bits(), code, code, way);
    };
    same(convert<E, nonsaturating>(static_cast<float>(x)), "float");
    same(convert<E, nonsaturating>(static_cast<double>(x)), "double");
    same(convert<E, nonsaturating>(convert<bf16>(x)), "bf16");
    same(convert<E, nonsaturating>(convert<fp16>(x)), "fp16");
    same(convert<E, nonsaturating>(x), "itself");
  }
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("all 65,536 pairs compare as the numbers they are, NaN unordered", "[float8]", e4m3, e5m2,
                   e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  test::differences d;
  const auto number = [](unsigned code) {
    const double magnitude =
        document_says_infinity<E>(code) ? 1e300 : std::fabs(test::lattice_value<E>(code));
    return code < 0x80 ? magnitude : -magnitude;
  };
  for (unsigned i = 0; i < 256; ++i) {
    for (unsigned j = 0; j < 256; ++j) {
      const E a = E::from_bits(i), b = E::from_bits(j);
      const bool ordered = !document_says_nan<E>(i) && !document_says_nan<E>(j);
      const double x = ordered ? number(i) : 0, y = ordered ? number(j) : 0;
      const unsigned wanted = !ordered ? 0b000010u
                                       : static_cast<unsigned>((x == y) | (x != y) << 1 | (x < y) << 2 |
                                                               (x > y) << 3 | (x <= y) << 4 | (x >= y) << 5);
      const auto got = static_cast<unsigned>((a == b) | (a != b) << 1 | (a < b) << 2 | (a > b) << 3 |
                                             (a <= b) << 4 | (a >= b) << 5);
      d.check(got, wanted, i << 8 | j, "== != < > <= >=");
      d.check((a <=> b) == std::partial_ordering::unordered, !ordered, i << 8 | j, "unordered");
    }
  }
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("equal numbers have equal hashes", "[float8]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  const std::hash<E> hash;
  if (test::layout_of<E>.minus_zero) CHECK(hash(E::from_bits(0x80)) == hash(E::from_bits(0)));
  std::set<std::size_t> hashes;
  std::size_t numbers = 0;
  for (unsigned code = 0; code < 256; ++code) {
    const E x = E::from_bits(code);
    if (isnan(x) || (code == 0x80 && test::layout_of<E>.minus_zero)) continue;
    hashes.insert(hash(x));
    ++numbers;
  }
  CHECK(hashes.size() == numbers);  // a byte needs no collision
}

TEST_CASE("codes work as keys and in algorithms", "[float8]") {
  std::set<e4m3> ordered;
  std::unordered_set<e4m3> hashed;
  std::vector<e4m3> values;
  for (unsigned code = 0; code < 256; ++code) {
    const e4m3 x = e4m3::from_bits(code);
    if (isnan(x)) continue;
    ordered.insert(x);
    hashed.insert(x);
    values.push_back(x);
  }
  CHECK(ordered.size() == 253);  // 254 codes, and -0 is 0
  CHECK(hashed.size() == 253);
  CHECK(*ordered.begin() == std::numeric_limits<e4m3>::lowest());
  std::sort(values.begin(), values.end());
  CHECK(std::is_sorted(values.begin(), values.end(), [](e4m3 a, e4m3 b) { return float(a) < float(b); }));
}
