// SPDX-License-Identifier: Apache-2.0
// e8m0, the power-of-two scale: its codes, its four rounding directions, and which library rounds in which.
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <ofp8/core/e8m0.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;

namespace {

static_assert(sizeof(e8m0) == 1 && std::is_trivially_copyable_v<e8m0> && !std::is_aggregate_v<e8m0>);
static_assert(!std::is_convertible_v<float, e8m0> && !std::is_convertible_v<e8m0, float>);
template <e8m0 X>
struct tagged {};
static_assert(std::is_same_v<tagged<e8m0::from_bits(0x7f)>, tagged<convert_e8m0(1.0f, e8m0_rounding::up)>>);

static_assert(float(e8m0::from_bits(0x7f)) == 1.0f && float(e8m0::from_bits(0x00)) == 0x1p-127f);
static_assert(float(e8m0::from_bits(0xfe)) == 0x1p127f && isnan(e8m0::from_bits(0xff)));

constexpr unsigned code_of(float x, e8m0_rounding r) { return convert_e8m0(x, r).bits(); }
static_assert(code_of(1.0f, e8m0_rounding::floor) == 0x7f && code_of(1.0f, e8m0_rounding::up) == 0x7f);
static_assert(code_of(1.4f, e8m0_rounding::floor) == 0x7f && code_of(1.4f, e8m0_rounding::up) == 0x80);
static_assert(code_of(1.5f, e8m0_rounding::nearest_up) == 0x80 &&
              code_of(1.5f, e8m0_rounding::nearest_even) == 0x80);
static_assert(code_of(3.0f, e8m0_rounding::nearest_up) == 0x81 &&
              code_of(3.0f, e8m0_rounding::nearest_even) == 0x80);
static_assert(code_of(0x1.fffffep0f, e8m0_rounding::floor) == 0x7f, "no float log2: it says 1.0 here");
static_assert(code_of(0x1.000002p0f, e8m0_rounding::up) == 0x80);

constexpr std::array roundings{e8m0_rounding::floor, e8m0_rounding::nearest_up, e8m0_rounding::nearest_even,
                               e8m0_rounding::up};
constexpr std::array names{"floor", "nearest_up", "nearest_even", "up"};

/// The code by a search over the 255 powers of two and the exact midpoints 1.5 * 2^n between them.
unsigned searched(std::uint32_t bits, e8m0_rounding rounding) {
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  if (magnitude >= 0x7f80'0000) return 0xff;             // NaN and infinity are no scales
  if (bits != magnitude && magnitude != 0) return 0xff;  // nor are negative numbers
  if (magnitude <= 0x0040'0000) return 0;                // 2^-127, all below it, zero
  const double x = static_cast<double>(test::float_of(magnitude));
  int code = 0;
  while (code < 254 && std::ldexp(1.0, code + 1 - 127) <= x) ++code;
  if (code == 254) return 254;
  const double lower = std::ldexp(1.0, code - 127), middle = 1.5 * lower;
  const bool up = rounding == e8m0_rounding::up             ? x > lower
                  : rounding == e8m0_rounding::nearest_up   ? x >= middle
                  : rounding == e8m0_rounding::nearest_even ? x > middle || (x == middle && code % 2 == 1)
                                                            : false;
  return static_cast<unsigned>(code + up);
}

std::vector<std::uint32_t> samples() {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t sign_exponent = 0; sign_exponent < 512; ++sign_exponent) {
    for (const std::uint32_t m : {0u, 1u, 2u, 0x3504f3u, 0x3504f4u, 0x3ffffeu, 0x3fffffu, 0x400000u,
                                  0x400001u, 0x400002u, 0x7ffffeu, 0x7fffffu})
      bits.push_back(sign_exponent << 23 | m);
  }
  test::random_source random(2);
  for (int i = 0; i < 20000; ++i) bits.push_back(random.bits32());
  for (int i = 0; i < 300; ++i) bits.push_back(random.bits32() & 0x007f'ffff);
  return bits;
}

}  // namespace

TEST_CASE("the 256 codes are 2^-127 .. 2^127 and NaN, in any environment", "[e8m0]") {
  std::array<std::uint32_t, 255> wanted;
  std::array<std::uint64_t, 255> wanted_double;
  for (int code = 0; code < 255; ++code) {
    wanted[static_cast<unsigned>(code)] = test::bits_of_float(std::ldexp(1.0f, code - 127));
    wanted_double[static_cast<unsigned>(code)] = test::bits_of_double(std::ldexp(1.0, code - 127));
  }
  test::differences d;
  test::for_each_fp_environment([&] {
    for (unsigned code = 0; code < 255; ++code) {
      const e8m0 s = e8m0::from_bits(code);
      d.check(s.bits(), code, code, "bits");
      d.check(test::bits_of_float(float(s)), wanted[code], code, "float");
      d.check(test::bits_of_double(double(s)), wanted_double[code], code, "double");
      d.check(isnan(s), false, code, "isnan");
    }
  });
  CHECK(d.report() == "");
  CHECK(test::bits_of_float(float(e8m0::from_bits(0xff))) == 0x7fc0'0000);
}

TEST_CASE("a float becomes the power of two that the direction says", "[e8m0]") {
  const std::vector<std::uint32_t> inputs = samples();
  for (std::size_t r = 0; r < roundings.size(); ++r) {
    std::vector<unsigned> wanted;
    for (const std::uint32_t bits : inputs) wanted.push_back(searched(bits, roundings[r]));
    test::differences d;
    test::for_each_fp_environment([&] {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        d.check(convert_e8m0(test::float_of(inputs[i]), roundings[r]).bits(), wanted[i], inputs[i], names[r]);
    });
    CHECK(d.report() == "");
  }
}

TEST_CASE("every power of two is its own scale in every direction", "[e8m0]") {
  test::differences d;
  for (unsigned code = 0; code < 255; ++code) {
    for (std::size_t r = 0; r < roundings.size(); ++r)
      d.check(convert_e8m0(float(e8m0::from_bits(code)), roundings[r]).bits(), code, code, names[r]);
  }
  CHECK(d.report() == "");
}

TEST_CASE("scales compare as numbers, NaN unordered", "[e8m0]") {
  const e8m0 one = e8m0::from_bits(0x7f), two = e8m0::from_bits(0x80), nan = e8m0::from_bits(0xff);
  CHECK(one < two);
  CHECK(one == one);
  CHECK(one != two);
  CHECK_FALSE(nan == nan);
  CHECK((one <=> nan) == std::partial_ordering::unordered);
  CHECK(std::hash<e8m0>()(one) != std::hash<e8m0>()(two));
}

// What the libraries do, and where each agrees with one of our directions. Rows outside the stated subset are
// the libraries' own rules for zero, for negative numbers and for what lies outside 2^-127 .. 2^127.
namespace {

constexpr std::uint32_t smallest = 0x0040'0000, second = 0x0080'0000, largest = 0x7f00'0000,
                        infinity = 0x7f80'0000;

bool is_nan(std::uint32_t b) { return (b & 0x7fff'ffff) > infinity; }
bool in_range(std::uint32_t b) { return b >= smallest && b <= largest; }

// gfloat: every value that has a power of two at or above and below it; NaN is left out of its rows ("--").
bool gfloat_rows(std::uint32_t b) { return in_range(b); }
// ONNX with saturate=1: everything that is not negative, zero and overflow included, but infinity (it gives fe).
bool onnx_rows(std::uint32_t b) { return b < infinity || b == 0x8000'0000 || is_nan(b); }
// ml_dtypes: 2^-126 .. 2^127, 2^-127 itself and what lies below, NaN, infinities, negative numbers; not zero (it
// gives ff), not (2^-127, 2^-126) (a subnormal above 2^-127 goes up), not above the last midpoint (it gives ff).
bool ml_dtypes_rows(std::uint32_t b) {
  return (b != 0 && b <= smallest) || (b >= second && b <= largest) || is_nan(b) || b == infinity ||
         (b > 0x8000'0000);
}
// torch: as ml_dtypes, zero included, negative numbers excluded (it drops the sign).
bool torch_rows(std::uint32_t b) {
  return b <= smallest || (b >= second && b <= largest) || is_nan(b) || b == infinity;
}

struct library_column {
  const char* column;
  e8m0_rounding rounding;
  bool (*rows)(std::uint32_t);
};
constexpr library_column columns[] = {{"gf_down", e8m0_rounding::floor, gfloat_rows},
                                      {"gf_even", e8m0_rounding::nearest_even, gfloat_rows},
                                      {"gf_up", e8m0_rounding::up, gfloat_rows},
                                      {"ort_down_sat", e8m0_rounding::floor, onnx_rows},
                                      {"ort_nearest_sat", e8m0_rounding::nearest_up, onnx_rows},
                                      {"ort_up_sat", e8m0_rounding::up, onnx_rows},
                                      {"ml", e8m0_rounding::nearest_up, ml_dtypes_rows},
                                      {"torch", e8m0_rounding::nearest_up, torch_rows}};

}  // namespace

TEST_CASE("each direction is what gfloat, ONNX, ml_dtypes and torch return on the rows they agree on",
          "[e8m0][golden]") {
  const test::golden_table table("codec_e8m0.tsv");
  REQUIRE(table.rows() == 632);
  for (const library_column& c : columns) {
    test::differences d;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto bits = static_cast<std::uint32_t>(test::hex(table.cell(row, "bits")));
      const std::string& cell = table.cell(row, c.column);
      if (!c.rows(bits) || cell == "--") continue;
      d.check(convert_e8m0(test::float_of(bits), c.rounding).bits(), test::hex(cell), bits, c.column);
    }
    CHECK(d.checked() > 500);
    CHECK(d.report() == "");
  }
}

TEST_CASE("all three libraries decode every scale as we do", "[e8m0][golden]") {
  const test::golden_table table("decode_f32.tsv");
  test::differences d;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto code = static_cast<unsigned>(test::hex(table.cell(row, "code")));
    for (const char* column : {"e8m0fnu_ml", "e8m0fnu_torch", "e8m0fnu_ort"}) {
      const auto theirs = static_cast<std::uint32_t>(test::hex(table.cell(row, column)));
      if (is_nan(theirs))
        d.check(isnan(e8m0::from_bits(code)), true, code, column);
      else
        d.check(test::bits_of_float(float(e8m0::from_bits(code))), theirs, code, column);
    }
  }
  CHECK(d.checked() == 3 * 256);
  CHECK(d.report() == "");
}
