// SPDX-License-Identifier: Apache-2.0
// The fma that scalar kernels compose of double operations, against the C library's.
#include <ofp8/arch/scalar/fma.hpp>

#include <cmath>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

std::uint32_t number(float x) { return detail::bits_of(detail::canonical(x)); }

std::uint32_t library(float a, float b, float c) {
  float (*volatile f)(float, float, float) = &::fmaf;
  return number(f(a, b, c));
}

}  // namespace

TEST_CASE("the composed fma rounds once", "[arch][gemm]") {
  using impl::scalar::fma;
  // (1 - 2^-23)(1 + 2^-23) 2^-24 = 2^-24 - 2^-70: next to 1 + 2^-23 the double sum is a tie of floats, and the
  // number itself lies below it.
  const float a = 0x1.fffffcp-13f, b = 0x1.000002p-12f;
  CHECK(fma(a, b, 0x1.000002p0f) == 0x1.000002p0f);
  CHECK(fma(a, b, 1.0f) == 1.0f);
  CHECK(fma(-a, b, -0x1.000002p0f) == -0x1.000002p0f);
  CHECK(fma(a, -b, 0x1.000004p0f) == 0x1.000004p0f);
  // Above the tie: (1 + 2^-23)^2 2^-24.
  CHECK(fma(b, b, 1.0f) == 0x1.000002p0f);
  CHECK(detail::bits_of(fma(-0x1p-149f, 0x1p-9f, 0.0f)) == 0x8000'0000);
  CHECK(detail::bits_of(fma(1.0f, -0.0f, 0.0f)) == 0);
}

TEST_CASE("the composed fma agrees with the C library for all kinds of numbers", "[arch][gemm]") {
  random_source random(71);
  differences d;
  for (int i = 0; i < 4'000'000; ++i) {
    std::uint32_t a = random.bits32(), b = random.bits32(), c = random.bits32();
    if (i % 4 != 0) {
      // The addend near the product, so that all bits meet; with many trailing zeros, where ties are.
      int exponent = static_cast<int>(a >> 23 & 255) + static_cast<int>(b >> 23 & 255) - 127 +
                     static_cast<int>(random.below(60)) - 30;
      exponent = exponent < 0 ? 0 : exponent > 255 ? 255 : exponent;
      c = (c & 0x807f'ffff) | static_cast<std::uint32_t>(exponent) << 23;
      if (i % 4 == 2) a &= 0xffff'f000;
      if (i % 4 == 3) c &= 0xfff0'0000;
    }
    const float x = float_of(a), y = float_of(b), z = float_of(c);
    d.check(number(impl::scalar::fma(x, y, z)), library(x, y, z), c);
  }
  CHECK(d.report() == "");
}
