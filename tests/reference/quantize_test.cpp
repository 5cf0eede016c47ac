// SPDX-License-Identifier: Apache-2.0
// The reference quantizers against arithmetic on paper.
#include <ofp8/reference/int8.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {
matrix<float> row(std::initializer_list<float> values) {
  matrix<float> m(1, static_cast<std::ptrdiff_t>(values.size()));
  std::ptrdiff_t c = 0;
  for (float v : values) m(0, c++) = v;
  return m;
}
float default_scale(std::initializer_list<float> values) {
  const auto q = reference::quantize<e4m3, per_token>(row(values));
  return q.scales()(0, 0);
}
int default_code(std::initializer_list<float> values, std::ptrdiff_t column) {
  const auto q = reference::quantize<e4m3, per_token>(row(values));
  return q.codes()(0, column).bits();
}
constexpr float inf = std::numeric_limits<float>::infinity();
}  // namespace

TEST_CASE("the default recipe divides amax by the largest number, and x by the scale",
          "[reference][quantize]") {
  // amax 896: s = 2 exactly; 3 / 2 = 1.5 (3c), -896 / 2 = -448 (fe), 0.001 / 2 < 2^-10 flushes to zero.
  quantize_counts counts;
  const auto q = reference::quantize<e4m3, per_token>(row({3.0f, -896.0f, 0.001f}), {}, &counts);
  CHECK(q.scales()(0, 0) == 2.0f);
  CHECK(q.codes()(0, 0).bits() == 0x3c);
  CHECK(q.codes()(0, 1).bits() == 0xfe);
  CHECK(q.codes()(0, 2).bits() == 0x00);
  CHECK(counts == quantize_counts{.saturated = 0, .flushed = 1, .nan = 0});
}

TEST_CASE("NaN and infinity stay out of amax; NaN stays NaN and infinity saturates",
          "[reference][quantize]") {
  quantize_counts counts;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto q = reference::quantize<e4m3, per_token>(row({448.0f, inf, -inf, nan, 1.0f}), {}, &counts);
  CHECK(q.scales()(0, 0) == 1.0f);
  CHECK(q.codes()(0, 1).bits() == 0x7e);
  CHECK(q.codes()(0, 2).bits() == 0xfe);
  CHECK(q.codes()(0, 3).bits() == 0x7f);
  CHECK(q.codes()(0, 4).bits() == 0x38);
  CHECK(counts == quantize_counts{.saturated = 2, .flushed = 0, .nan = 1});
}

TEST_CASE("a group without a finite nonzero element has the scale 1", "[reference][quantize]") {
  CHECK(default_scale({0.0f, -0.0f}) == 1.0f);
  CHECK(default_scale({inf}) == 1.0f);
  CHECK(default_code({0.0f, -0.0f}, 1) == 0x80);
}

TEST_CASE("a scale below the smallest normal float becomes the smallest normal float",
          "[reference][quantize]") {
  CHECK(default_scale({0x1p-126f}) == 0x1p-126f);
  // x = 2^-126 is then the quotient 1.
  CHECK(default_code({0x1p-126f}, 0) == 0x38);
}

TEST_CASE("mx scales round up to a power of two", "[reference][quantize]") {
  // amax 449 / 448 is above 1: the scale is 2 (code 80), and 449 / 2 = 224.5 rounds to 224 (76).
  const auto q = reference::quantize<e4m3, mx<32>>(row({449.0f, 0.0f}));
  CHECK(q.scales()(0, 0).bits() == 0x80);
  CHECK(q.codes()(0, 0).bits() == 0x76);
  const auto exact = reference::quantize<e4m3, mx<32>>(row({448.0f}));
  CHECK(exact.scales()(0, 0).bits() == 0x7f);
}

TEST_CASE("ragged blocks have scales of their own", "[reference][quantize]") {
  matrix<float> x(3, 5);
  x(0, 0) = 448.0f;
  x(2, 4) = 896.0f;
  const auto q = reference::quantize<e4m3, block_wise<2, 4>>(x);
  REQUIRE(q.scales().rows() == 2);
  REQUIRE(q.scales().cols() == 2);
  CHECK(q.scales()(0, 0) == 1.0f);
  CHECK(q.scales()(0, 1) == 1.0f);
  CHECK(q.scales()(1, 1) == 2.0f);
  CHECK(q.codes()(2, 4).bits() == 0x7e);
}

TEST_CASE("dequantize multiplies once and rounds once", "[reference][quantize]") {
  matrix<e4m3> codes(1, 2);
  codes(0, 0) = convert<e4m3>(1.125f);
  codes(0, 1) = e4m3::from_bits(0xff);
  matrix<float> scales(1, 1);
  scales(0, 0) = 1.0f + 0x1p-7f;  // 1.125 * (1 + 2^-7) = 1.1337890625, between 1.1328125 and 1.140625 in bf16
  const scaled_view<const e4m3, per_tensor> q{codes.view(), scales.view()};
  CHECK(reference::dequantize(q)(0, 0) == 1.1337890625f);
  CHECK(float(reference::dequantize<bf16>(q)(0, 0)) == 1.1328125f);
  CHECK(detail::bits_of(reference::dequantize(q)(0, 1)) == 0x7fc00000u);
}

TEST_CASE("INT8 is symmetric, rounds to nearest even and multiplies in integers", "[reference][int8]") {
  // s = 254 / 127 = 2: 1 / 2 = 0.5 -> 0 (even), 3 / 2 = 1.5 -> 2, -254 / 2 = -127, 5 / 2 = 2.5 -> 2.
  const auto a = reference::quantize_int8<per_token>(row({1.0f, 3.0f, -254.0f, 5.0f}));
  CHECK(a.scales()(0, 0) == 2.0f);
  CHECK(int{a.codes()(0, 0)} == 0);
  CHECK(int{a.codes()(0, 1)} == 2);
  CHECK(int{a.codes()(0, 2)} == -127);
  CHECK(int{a.codes()(0, 3)} == 2);
  matrix<float> d(1, 1);
  reference::gemm_nt_int8(a, a, d);  // (0 + 4 + 16129 + 4) * 4
  CHECK(d(0, 0) == 64548.0f);
}
