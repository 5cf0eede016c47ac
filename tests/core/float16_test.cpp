// SPDX-License-Identifier: Apache-2.0
// bf16 and fp16: exact widening, one rounding when narrowing, the compiler's own types bit for bit.
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/float16.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;

namespace {

template <class H>
constexpr bool is_plain =
    sizeof(H) == 2 &&
    alignof(H) == 2 && std::is_trivially_copyable_v<H>&& std::is_trivially_default_constructible_v<H> &&
    !std::is_aggregate_v<H> && !std::is_convertible_v<H, float> && !std::is_convertible_v<float, H>;
static_assert(is_plain<bf16> && is_plain<fp16>);

template <bf16 X>
struct tagged {};
static_assert(std::same_as<tagged<convert<bf16>(1)>, tagged<bf16::from_bits(0x3f80)>>);

static_assert(convert<bf16>(3.14159f).bits() == 0x4049 && convert<fp16>(3.14159f).bits() == 0x4248);
static_assert(convert<fp16>(65520.0f).bits() == 0x7c00 && convert<fp16>(65519.99f).bits() == 0x7bff);
static_assert(convert<bf16>(0x1.ffp127f).bits() == 0x7f80 && convert<bf16>(0x1.fefffep127f).bits() == 0x7f7f);
static_assert(convert<fp16>(-0.0f).bits() == 0x8000);
static_assert(float(fp16::from_bits(0x0001)) == 0x1p-24f && float(bf16::from_bits(0x0001)) == 0x1p-133f);
static_assert(convert<fp16, saturating>(1e9f).bits() == 0x7bff, "a policy can be given");

template <class H>
unsigned infinity_code() {
  return test::layout_of<H>.largest + 1;
}

/// A NaN keeps its sign and payload and becomes quiet.
template <class H>
std::uint32_t widened(unsigned code) {
  const test::layout& l = test::layout_of<H>;
  const std::uint32_t sign = code & l.sign ? 0x8000'0000 : 0;
  const unsigned magnitude = code & (l.sign - 1);
  if (magnitude > infinity_code<H>()) {
    const std::uint32_t payload = magnitude - infinity_code<H>();
    return sign | 0x7fc0'0000 | payload << (23 - l.mantissa_bits);
  }
  if (magnitude == infinity_code<H>()) return sign | 0x7f80'0000;
  return sign | test::bits_of_float(static_cast<float>(test::lattice_of<H>().values()[magnitude]));
}

template <class T>
unsigned comparisons(T a, T b) {
  return unsigned{a < b} | unsigned{a == b} << 1 | unsigned{a > b} << 2 | unsigned{a != b} << 3;
}

std::vector<std::uint32_t> floats_near_16_bit_ties() {
  std::vector<std::uint32_t> bits = test::stratified_floats();
  for (std::uint32_t sign_exponent = 0; sign_exponent < 512; ++sign_exponent) {
    for (std::uint32_t k = 0; k < 256; ++k) {
      const std::uint32_t base =
          sign_exponent << 23 | k << 15;  // every tie of 7 mantissa bits, an 8th of all of 10
      for (const std::uint32_t offset : {0u, 1u, 0x7fffu, 0x1000u, 0x1001u, 0xfffu, 0x3000u})
        bits.push_back(base + offset);
    }
  }
  return bits;
}

}  // namespace

TEMPLATE_TEST_CASE("all 65,536 codes widen exactly to float and double, in any environment", "[float16]",
                   bf16, fp16) {
  using H = TestType;
  std::vector<std::uint32_t> wanted;
  std::vector<std::uint64_t> wanted_double;
  for (unsigned code = 0; code < 65536; ++code) {
    wanted.push_back(widened<H>(code));
    wanted_double.push_back(test::bits_of_double(static_cast<double>(test::float_of(wanted.back()))));
  }
  test::differences d;
  test::for_each_fp_environment([&] {
    for (unsigned code = 0; code < 65536; ++code) {
      const H x = H::from_bits(code);
      d.check(x.bits(), code, code, "bits");
      d.check(test::bits_of_float(static_cast<float>(x)), wanted[code], code, "float");
      d.check(test::bits_of_double(static_cast<double>(x)), wanted_double[code], code, "double");
    }
  });
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("all codes come back from float and double; NaN becomes canonical", "[float16]", bf16,
                   fp16) {
  using H = TestType;
  const unsigned canonical = test::ieee_codes<H>.nan[0];
  test::differences d;
  for (unsigned code = 0; code < 65536; ++code) {
    const H x = H::from_bits(code);
    const unsigned wanted = (code & 0x7fff) > infinity_code<H>() ? canonical : code;
    d.check(convert<H>(static_cast<float>(x)).bits(), wanted, code, "float");
    d.check(convert<H>(static_cast<double>(x)).bits(), wanted, code, "double");
    d.check(convert<H>(x).bits(), wanted, code, "itself");
    d.check(isnan(x), (code & 0x7fff) > infinity_code<H>(), code, "isnan");
    d.check(isinf(x), (code & 0x7fff) == infinity_code<H>(), code, "isinf");
    d.check(isfinite(x), (code & 0x7fff) < infinity_code<H>(), code, "isfinite");
    d.check(signbit(x), code >> 15, code, "signbit");
  }
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("a float narrows to the nearest 16-bit value, ties to even", "[float16]", bf16, fp16) {
  using H = TestType;
  const std::vector<std::uint32_t> inputs = floats_near_16_bit_ties();
  std::vector<unsigned> wanted;
  for (const std::uint32_t bits : inputs)
    wanted.push_back(test::expected_of_float<H>(bits, test::ieee_codes<H>));
  test::differences d;
  test::for_each_fp_environment([&] {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      d.check(convert<H>(test::float_of(inputs[i])).bits(), wanted[i], inputs[i]);
  });
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("a double narrows by one rounding, not through float", "[float16]", bf16, fp16) {
  using H = TestType;
  test::differences d;
  int traps = 0;
  for (const double value : test::tricky_doubles(test::lattice_of<H>())) {
    const unsigned got = convert<H>(value).bits();
    d.check(got, test::expected<H>(value, test::ieee_codes<H>), test::bits_of_double(value));
    traps += got != convert<H>(static_cast<float>(value)).bits();
  }
  CHECK(d.report() == "");
  CHECK(traps > 1000);
}

TEMPLATE_TEST_CASE("a 64-bit integer narrows by one rounding", "[float16]", bf16, fp16) {
  using H = TestType;
  test::differences d;
  test::random_source random(3);
  const auto check = [&](std::int64_t i) {
    const bool negative = i < 0;
    const std::uint64_t magnitude =
        negative ? 0 - static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
    d.check(convert<H>(i).bits(), test::expected_of_integer<H>(negative, magnitude, test::ieee_codes<H>),
            magnitude);
    d.check(convert<H>(magnitude).bits(), test::expected_of_integer<H>(false, magnitude, test::ieee_codes<H>),
            magnitude);
  };
  for (std::int64_t i = -70000; i <= 70000; i += 3) check(i);
  for (int i = 0; i < 5000; ++i) check(static_cast<std::int64_t>(random.bits64()) >> random.below(64));
  for (int e = 8; e < 63; ++e) {
    for (std::int64_t k = -1; k <= 1; ++k) check((std::int64_t{257} << (e - 8)) + k);  // a tie of bf16
  }
  check((std::numeric_limits<std::int64_t>::min)());
  check((std::numeric_limits<std::int64_t>::max)());
  CHECK(d.report() == "");
}

TEST_CASE("bf16 and fp16 convert into each other by one rounding", "[float16]") {
  test::differences d;
  for (unsigned code = 0; code < 65536; ++code) {
    d.check(convert<fp16>(bf16::from_bits(code)).bits(),
            test::expected_of_float<fp16>(widened<bf16>(code), test::ieee_codes<fp16>), code, "bf16 -> fp16");
    d.check(convert<bf16>(fp16::from_bits(code)).bits(),
            test::expected_of_float<bf16>(widened<fp16>(code), test::ieee_codes<bf16>), code, "fp16 -> bf16");
  }
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("every FP8 value is a bf16 and an fp16 exactly", "[float16]", e4m3, e5m2, e4m3fnuz,
                   e5m2fnuz) {
  test::differences d;
  for (unsigned code = 0; code < 256; ++code) {
    const auto x = TestType::from_bits(code);
    const auto wide = static_cast<float>(x);
    if (isnan(x)) {
      d.check(convert<bf16>(x).bits(), 0x7fc0, code, "NaN to bf16");
      d.check(convert<fp16>(x).bits(), 0x7e00, code, "NaN to fp16");
      continue;
    }
    d.check(test::bits_of_float(static_cast<float>(convert<bf16>(x))), test::bits_of_float(wide), code,
            "bf16");
    d.check(test::bits_of_float(static_cast<float>(convert<fp16>(x))), test::bits_of_float(wide), code,
            "fp16");
  }
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("16-bit values compare and hash as the numbers they are", "[float16]", bf16, fp16) {
  using H = TestType;
  const std::hash<H> hash;
  CHECK(H::from_bits(0x8000) == H::from_bits(0));
  CHECK(hash(H::from_bits(0x8000)) == hash(H::from_bits(0)));
  const H nan = std::numeric_limits<H>::quiet_NaN();
  CHECK_FALSE(nan == nan);
  CHECK((nan <=> nan) == std::partial_ordering::unordered);
  test::random_source random(9);
  test::differences d;
  for (int i = 0; i < 20000; ++i) {
    const H a = H::from_bits(random.bits32() & 0xffff), b = H::from_bits(random.bits32() & 0xffff);
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    d.check(comparisons(a, b), comparisons(x, y), std::uint64_t{a.bits()} << 16 | b.bits());
  }
  CHECK(d.report() == "");
}

#if defined(__FLT16_MAX__)
TEST_CASE("fp16 has the bits of _Float16", "[float16]") {
  test::differences d;
  for (unsigned code = 0; code < 65536; ++code) {
    const fp16 x = fp16::from_bits(code);
    const auto builtin = std::bit_cast<_Float16>(x);
    if (isnan(x)) continue;
    d.check(test::bits_of_float(static_cast<float>(x)), test::bits_of_float(static_cast<float>(builtin)),
            code, "widen");
  }
  for (const std::uint32_t bits : floats_near_16_bit_ties()) {
    if ((bits & 0x7fff'ffff) > 0x7f80'0000) continue;
    const auto builtin = static_cast<_Float16>(test::float_of(bits));
    d.check(convert<fp16>(test::float_of(bits)).bits(), std::bit_cast<fp16>(builtin).bits(), bits, "narrow");
  }
  CHECK(d.report() == "");
}
#endif

#if defined(__x86_64__)
namespace {

__attribute__((target("f16c"))) unsigned narrowed_by_the_machine(float x) {
  return static_cast<unsigned>(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT), 0));
}

}  // namespace

TEST_CASE("fp16 narrows as the machine does", "[float16]") {
  if (!__builtin_cpu_supports("avx2")) return;  // every CPU with AVX2 has F16C; the builtin knows no "f16c"
  test::differences d;
  for (const std::uint32_t bits : floats_near_16_bit_ties()) {
    if ((bits & 0x7fff'ffff) > 0x7f80'0000) continue;
    d.check(convert<fp16>(test::float_of(bits)).bits(), narrowed_by_the_machine(test::float_of(bits)), bits);
  }
  CHECK(d.report() == "");
}
#endif

#if defined(__BFLT16_MAX__) || defined(__STDCPP_BFLOAT16_T__) || (defined(__AVX512BF16__) && __GNUC__ >= 13)
TEST_CASE("bf16 has the bits of __bf16", "[float16]") {
  static_assert(sizeof(__bf16) == sizeof(bf16));
  test::differences d;
  for (unsigned code = 0; code < 65536; ++code) {
    const bf16 x = bf16::from_bits(code);
    if (isnan(x)) continue;
    d.check(test::bits_of_float(static_cast<float>(x)),
            test::bits_of_float(static_cast<float>(std::bit_cast<__bf16>(x))), code);
  }
  CHECK(d.report() == "");
}
#endif
