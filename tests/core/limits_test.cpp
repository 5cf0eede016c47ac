// SPDX-License-Identifier: Apache-2.0
// std::numeric_limits of every type, typed in from the format documents. Everything is a constant expression,
// so most of this file is decided by the compiler.
#include <limits>
#include <type_traits>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>

#include "tests/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace ofp8;

namespace {

template <class T>
using limits = std::numeric_limits<T>;

/// The members that are plain numbers: format document, C++ standard's definition.
struct numbers {
  int digits, digits10, max_digits10;
  int min_exponent, max_exponent, min_exponent10, max_exponent10;
};

template <class T>
constexpr bool has_numbers(numbers n) {
  return limits<T>::digits == n.digits && limits<T>::digits10 == n.digits10 &&
         limits<T>::max_digits10 == n.max_digits10 && limits<T>::min_exponent == n.min_exponent &&
         limits<T>::max_exponent == n.max_exponent && limits<T>::min_exponent10 == n.min_exponent10 &&
         limits<T>::max_exponent10 == n.max_exponent10;
}

static_assert(has_numbers<e4m3>({4, 0, 3, -5, 9, -1, 2}));
static_assert(has_numbers<e5m2>({3, 0, 2, -13, 16, -4, 4}));
static_assert(has_numbers<e4m3fnuz>({4, 0, 3, -6, 8, -2, 2}));
static_assert(has_numbers<e5m2fnuz>({3, 0, 2, -14, 16, -4, 4}));
static_assert(has_numbers<e8m0>({1, 0, 2, -126, 128, -38, 38}));
static_assert(has_numbers<bf16>({8, 2, 4, -125, 128, -37, 38}));
static_assert(has_numbers<fp16>({11, 3, 5, -13, 16, -4, 4}));

/// Codes of min, denorm_min, max, lowest, epsilon, round_error, quiet_NaN.
template <class T>
constexpr bool has_codes(unsigned min, unsigned denorm_min, unsigned max, unsigned lowest, unsigned epsilon,
                         unsigned round_error, unsigned quiet_nan) {
  return (limits<T>::min)().bits() == min && limits<T>::denorm_min().bits() == denorm_min &&
         (limits<T>::max)().bits() == max && limits<T>::lowest().bits() == lowest &&
         limits<T>::epsilon().bits() == epsilon && limits<T>::round_error().bits() == round_error &&
         limits<T>::quiet_NaN().bits() == quiet_nan;
}

static_assert(has_codes<e4m3>(0x08, 0x01, 0x7e, 0xfe, 0x20, 0x30, 0x7f));
static_assert(has_codes<e5m2>(0x04, 0x01, 0x7b, 0xfb, 0x34, 0x38, 0x7f));
static_assert(has_codes<e4m3fnuz>(0x08, 0x01, 0x7f, 0xff, 0x28, 0x38, 0x80));
static_assert(has_codes<e5m2fnuz>(0x04, 0x01, 0x7f, 0xff, 0x38, 0x3c, 0x80));
static_assert(has_codes<e8m0>(0x00, 0x00, 0xfe, 0x00, 0x7f, 0x7e, 0xff));
static_assert(has_codes<bf16>(0x0080, 0x0001, 0x7f7f, 0xff7f, 0x3c00, 0x3f00, 0x7fc0));
static_assert(has_codes<fp16>(0x0400, 0x0001, 0x7bff, 0xfbff, 0x1400, 0x3800, 0x7e00));

static_assert(limits<e5m2>::has_infinity && limits<e5m2>::infinity().bits() == 0x7c);
static_assert(!limits<e4m3>::has_infinity && isnan(limits<e4m3>::infinity()),
              "no finite number poses as infinity");
static_assert(!limits<e4m3fnuz>::has_infinity && isnan(limits<e4m3fnuz>::infinity()));
static_assert(!limits<e5m2fnuz>::has_infinity && isnan(limits<e5m2fnuz>::infinity()));
static_assert(!limits<e8m0>::has_infinity && isnan(limits<e8m0>::infinity()));
static_assert(limits<bf16>::infinity().bits() == 0x7f80 && limits<fp16>::infinity().bits() == 0x7c00);

static_assert(limits<e5m2>::has_signaling_NaN && limits<e5m2>::signaling_NaN().bits() == 0x7d);
static_assert(!limits<e4m3>::has_signaling_NaN && !limits<e4m3fnuz>::has_signaling_NaN);
static_assert(!limits<e5m2fnuz>::has_signaling_NaN && !limits<e8m0>::has_signaling_NaN);

template <class T>
constexpr bool is_a_bounded_signed_floating_type() {
  using L = limits<T>;
  return L::is_specialized && L::is_signed && !L::is_integer && !L::is_exact && L::is_bounded &&
         !L::is_modulo && L::radix == 2 && L::has_quiet_NaN && !L::traps &&
         L::has_denorm == std::denorm_present && L::round_style == std::round_to_nearest;
}
static_assert(is_a_bounded_signed_floating_type<e4m3>() && is_a_bounded_signed_floating_type<e5m2>());
static_assert(is_a_bounded_signed_floating_type<e4m3fnuz>() && is_a_bounded_signed_floating_type<e5m2fnuz>());
static_assert(is_a_bounded_signed_floating_type<bf16>() && is_a_bounded_signed_floating_type<fp16>());
static_assert(limits<e8m0>::is_specialized && !limits<e8m0>::is_signed && limits<e8m0>::radix == 2 &&
              limits<e8m0>::has_quiet_NaN && limits<e8m0>::has_denorm == std::denorm_absent);
static_assert(limits<const e4m3>::digits == 4 && limits<const fp16>::digits == 11,
              "const types have limits too");

static_assert((limits<e5m2>::max)() == convert<e5m2>(57344));

template <class E>
constexpr unsigned nan_bits = convert<E>(std::numeric_limits<float>::quiet_NaN()).bits();
static_assert(nan_bits<e4m3> == limits<e4m3>::quiet_NaN().bits() &&
              nan_bits<e5m2> == limits<e5m2>::quiet_NaN().bits());
static_assert(nan_bits<e4m3fnuz> == limits<e4m3fnuz>::quiet_NaN().bits());
static_assert(nan_bits<e5m2fnuz> == limits<e5m2fnuz>::quiet_NaN().bits());
static_assert(nan_bits<bf16> == limits<bf16>::quiet_NaN().bits() &&
              nan_bits<fp16> == limits<fp16>::quiet_NaN().bits());

}  // namespace

TEMPLATE_TEST_CASE("the limits are the ends of the list of values", "[limits]", e4m3, e5m2, e4m3fnuz,
                   e5m2fnuz, bf16, fp16) {
  using T = TestType;
  const test::lattice& l = test::lattice_of<T>();
  const auto& values = l.values();
  CHECK(double((limits<T>::max)()) == values[l.overflow() - 1]);
  CHECK(double(limits<T>::lowest()) == -values[l.overflow() - 1]);
  CHECK(double(limits<T>::denorm_min()) == values[1]);
  CHECK(double((limits<T>::min)()) == values[1] * (1 << test::layout_of<T>.mantissa_bits));
  const unsigned one = l.nearest(1.0);
  CHECK(double(limits<T>::epsilon()) == values[one + 1] - 1.0);
  CHECK(double(limits<T>::round_error()) == 0.5);
}

TEST_CASE("the limits are the published numbers", "[limits]") {
  CHECK(float((limits<e4m3>::max)()) == 448.0f);
  CHECK(float((limits<e4m3>::min)()) == 0.015625f);
  CHECK(float(limits<e4m3>::denorm_min()) == 0.001953125f);
  CHECK(float((limits<e5m2>::max)()) == 57344.0f);
  CHECK(float((limits<e5m2>::min)()) == 0x1p-14f);
  CHECK(float(limits<e5m2>::denorm_min()) == 0x1p-16f);
  CHECK(float((limits<e4m3fnuz>::max)()) == 240.0f);
  CHECK(float((limits<e4m3fnuz>::min)()) == 0x1p-7f);
  CHECK(float(limits<e4m3fnuz>::denorm_min()) == 0x1p-10f);
  CHECK(float((limits<e5m2fnuz>::max)()) == 57344.0f);
  CHECK(float((limits<e5m2fnuz>::min)()) == 0x1p-15f);
  CHECK(float(limits<e5m2fnuz>::denorm_min()) == 0x1p-17f);
  CHECK(float((limits<e8m0>::max)()) == 0x1p127f);
  CHECK(float(limits<e8m0>::lowest()) == 0x1p-127f);
  CHECK(float((limits<fp16>::max)()) == 65504.0f);
}
