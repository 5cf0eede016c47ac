// SPDX-License-Identifier: Apache-2.0
// Compiled with -O3 -ffast-math, which lets the compiler assume that there is no NaN, no infinity and no minus
// zero, and links code that sets FTZ and DAZ: convert and the widenings give the same bits all the same.
#if !defined(__FAST_MATH__)
#error "this file is a test of -ffast-math"
#endif

#include <cstdint>
#include <vector>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/random_bits.hpp"

using namespace ofp8;

namespace {

// Bits come from memory that the compiler cannot see through.
template <class To, class From>
To reinterpret(From bits) {
  static_assert(sizeof(To) == sizeof(From));
  volatile From opaque = bits;  // a constant would be folded at compile time, without DAZ
  return __builtin_bit_cast(To, static_cast<From>(opaque));
}

std::vector<std::uint32_t> float_bits() {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t sign_exponent = 0; sign_exponent < 512; ++sign_exponent) {
    for (std::uint32_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
      for (std::uint32_t offset = 0; offset < 5; ++offset)
        bits.push_back((sign_exponent << 23) + (((sixteenth << 19) + offset - 2) & 0x7f'ffff));
    }
  }
  return bits;
}

}  // namespace

TEST_CASE("with -ffast-math every preset gives the same codes, from float and bf16", "[fast_math]") {
  test::differences d;
  test::for_each_fp8([&](auto target) {
    using E = decltype(target);
    test::for_each_preset([&](const auto& preset) {
      constexpr auto P = std::decay_t<decltype(preset)>::value;
      const auto& codes = preset.template codes<E>();
      for (const std::uint32_t bits : float_bits())
        d.check(convert<E, P>(reinterpret<float>(bits)).bits(), test::expected_of_float<E>(bits, codes), bits,
                preset.name);
      for (unsigned code = 0; code < 65536; ++code)
        d.check(convert<E, P>(bf16::from_bits(code)).bits(), test::expected_of_float<E>(code << 16, codes),
                code, "bf16");
    });
  });
  CHECK(d.report() == "");
}

TEST_CASE("with -ffast-math a double is rounded once", "[fast_math]") {
  test::differences d;
  const auto check = [&](std::uint64_t bits, unsigned wanted) {
    d.check(convert<e4m3, nonsaturating>(reinterpret<double>(bits)).bits(), wanted, bits);
  };
  check(0x3f50'0000'0000'1000, 0x01);  // 2^-10 (1 + 2^-40)
  check(0x3ff1'0000'0000'1000, 0x39);  // 1.0625 (1 + 2^-40)
  check(0x407d'0000'0000'0001, 0x7f);  // just above 464
  check(0x407d'0000'0000'0000, 0x7e);
  check(0x7ff8'0000'0000'0000, 0x7f);
  check(0xfff0'0000'0000'0000, 0xff);
  check(0x8000'0000'0000'0000, 0x80);
  check(0x8000'0000'0000'0001, 0x80);
  CHECK(d.report() == "");
}

TEST_CASE("with -ffast-math all codes decode to the same bits", "[fast_math]") {
  test::differences d;
  test::for_each_fp8([&](auto target) {
    using E = decltype(target);
    const test::layout& l = test::layout_of<E>;
    for (unsigned code = 0; code < 256; ++code) {
      const auto got = reinterpret<std::uint32_t>(static_cast<float>(E::from_bits(code)));
      const unsigned magnitude = code & 0x7f;
      const std::uint32_t sign = (code & 0x80) << 24;
      if (!l.minus_zero && code == 0x80)
        d.check(got, 0xffc0'0000, code, l.name);
      else if (l.minus_zero && magnitude > (l.mantissa_bits == 2 ? 0x7cu : 0x7eu))
        d.check(got, sign | 0x7fc0'0000, code, l.name);
      else if (l.mantissa_bits == 2 && l.minus_zero && magnitude == 0x7c)
        d.check(got, sign | 0x7f80'0000, code, l.name);
      else
        d.check(
            got,
            sign | reinterpret<std::uint32_t>(static_cast<float>(test::lattice_of<E>().values()[magnitude])),
            code, l.name);
      d.check(isnan(E::from_bits(code)), (got & 0x7fff'ffff) > 0x7f80'0000, code, "isnan");
    }
  });
  for (unsigned code = 0; code < 256; ++code) {
    const std::uint32_t wanted = code == 255 ? 0x7fc0'0000 : code == 0 ? 0x0040'0000 : code << 23;
    d.check(reinterpret<std::uint32_t>(static_cast<float>(e8m0::from_bits(code))), wanted, code, "e8m0");
  }
  // Subnormal floats, which the conversion instruction to double reads as zero under DAZ.
  const auto scale = reinterpret<e8m0>(std::uint8_t{0});
  const auto tiny = reinterpret<bf16>(std::uint16_t{0x8001});
  d.check(reinterpret<std::uint64_t>(static_cast<double>(scale)), 0x3800'0000'0000'0000, 0, "e8m0 to double");
  d.check(reinterpret<std::uint64_t>(static_cast<double>(tiny)), 0xb7a0'0000'0000'0000, 0x8001,
          "bf16 to double");
  CHECK(d.report() == "");
}

TEST_CASE("with -ffast-math NaN is unordered and minus zero is zero", "[fast_math]") {
  const e4m3 nan = e4m3::from_bits(0x7f), zero = e4m3::from_bits(0), minus_zero = e4m3::from_bits(0x80);
  CHECK_FALSE(nan == nan);
  CHECK_FALSE(nan < zero);
  CHECK(zero == minus_zero);
  CHECK(isnan(convert<bf16>(reinterpret<float>(0x7f80'0001u))));
  CHECK(convert<bf16>(reinterpret<float>(0x8000'0000u)).bits() == 0x8000);
  CHECK(convert<fp16>(reinterpret<float>(0x0000'0001u)).bits() == 0x0000);
  CHECK(convert<bf16>(reinterpret<float>(0x0001'8000u)).bits() == 0x0002);  // a subnormal tie, to even
  CHECK(convert_e8m0(reinterpret<float>(0x7fc0'0000u), e8m0_rounding::up).bits() == 0xff);
  CHECK(convert_e8m0(reinterpret<float>(0x0040'0001u), e8m0_rounding::up).bits() == 0x01);
}
