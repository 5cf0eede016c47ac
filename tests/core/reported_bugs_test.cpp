// SPDX-License-Identifier: Apache-2.0
// Bugs that other conversions shipped with, one test each: the report, the smallest input, what must come out.
#include <cstdint>
#include <functional>
#include <limits>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using test::float_of;

namespace {

constexpr policy random_rounding{.rounding = rounding_mode::stochastic};
constexpr policy truncating{.rounding = rounding_mode::toward_zero};
constexpr policy truncating_nonfinite{.rounding = rounding_mode::toward_zero,
                                      .on_overflow = overflow_rule::nonfinite};

const float plus_nan = float_of(0x7fc0'0000), infinity = float_of(0x7f80'0000);

template <class E, auto P = saturating, class T>
unsigned code(T x) {
  return convert<E, P>(x).bits();
}

}  // namespace

// C1: ROCm/rocm-systems#10591 (PR 10593), ahrefs/ocannl#647. A shift by 64 or more is undefined.
TEST_CASE("tiny values become zero in every format, none becomes 2^-14", "[reports]") {
  CHECK(code<e5m2>(3.3e-24f) == 0x00);
  CHECK(code<e4m3>(3.3e-24f) == 0x00);
  test::differences d;
  for (std::uint32_t exponent = 0; exponent < 103; ++exponent) {  // below 2^-24
    for (const std::uint32_t m : {0u, 1u, 0x400000u, 0x7fffffu}) {
      const float x = float_of(exponent << 23 | m);
      d.check(code<e4m3>(x) | code<e5m2>(x) | code<e4m3fnuz>(-x) | code<e5m2fnuz>(-x), 0, exponent << 23 | m);
    }
  }
  for (int e = 0; e < 1000; ++e)
    d.check(code<e5m2>(test::double_of(static_cast<std::uint64_t>(e) << 52 | 1)), 0,
            static_cast<unsigned>(e));
  CHECK(d.report() == "");
}

// C2: ml_dtypes#400, #260, #147. C5: pytorch#177870 (PR 178817), ao#1912, ao#4364. C29: oneDNN#5626, #3675.
TEST_CASE("a value above the maximum is 448 or NaN, as the call says", "[reports]") {
  CHECK(code<e4m3, saturating>(465.0f) == 0x7e);
  CHECK(code<e4m3, nonsaturating>(465.0f) == 0x7f);
  CHECK(code<e4m3, saturating>(1000.0f) == 0x7e);
  CHECK(code<e4m3, nonsaturating>(1000.0f) == 0x7f);
  CHECK(code<e4m3, saturating>(-1000.0f) == 0xfe);
}

// C3: ml_dtypes#298, PR 223.
TEST_CASE("the rounding of a scale is the caller's choice", "[reports]") {
  const auto e8 = [](float x, e8m0_rounding r) { return convert_e8m0(x, r).bits(); };
  CHECK(e8(1.5f, e8m0_rounding::floor) == 0x7f);
  CHECK(e8(1.5f, e8m0_rounding::nearest_even) == 0x80);
  CHECK(e8(3.0f, e8m0_rounding::nearest_even) == 0x80);
  CHECK(e8(3.0f, e8m0_rounding::nearest_up) == 0x81);
  CHECK(e8(1.0000001f, e8m0_rounding::up) == 0x80);
  CHECK(std::numeric_limits<e8m0>::max_exponent == 128);
}

// C6: pytorch#150756.
TEST_CASE("464 is a tie and becomes 448, from bf16 and from float", "[reports]") {
  CHECK(code<e4m3, nonsaturating>(bf16::from_bits(0x43e8)) == 0x7e);
  CHECK(code<e4m3, nonsaturating>(464.0f) == 0x7e);
  CHECK(code<e4m3, nonsaturating>(465.0f) == 0x7f);
}

// C7: triton#2583, PR 10846, #8322. C31: FreeToken PR 103. An fp16 intermediate rounds twice.
TEST_CASE("no bf16 value takes the way through fp16", "[reports]") {
  test::differences d;
  int through_fp16_differs = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7fff) > 0x7f80) continue;
    const bf16 x = bf16::from_bits(bits);
    d.check(code<e4m3>(x), test::expected_of_float<e4m3>(bits << 16, std::get<0>(test::presets).e4m3_codes),
            bits);
    d.check(code<e5m2>(x), test::expected_of_float<e5m2>(bits << 16, std::get<0>(test::presets).e5m2_codes),
            bits);
    through_fp16_differs += code<e5m2, nonsaturating>(convert<fp16>(x)) != code<e5m2, nonsaturating>(x);
  }
  CHECK(d.report() == "");
  // bf16 has fewer bits than fp16, so only the subnormal range of fp16 could tell, and it does not for E5M2.
  CHECK(through_fp16_differs == 0);
  CHECK(code<e4m3>(float_of(0x3a80'0001)) == 0x01);
}

// C8: triton PR 11753.
TEST_CASE("a tie goes to even, just above it goes up", "[reports]") {
  CHECK(code<e5m2>(1.125f) == code<e5m2>(1.0f));
  CHECK(code<e4m3>(1.0625001f) == code<e4m3>(1.125f));
}

// C9: triton#10745, PR 10747, #10778, #3997.
TEST_CASE("the FNUZ byte 80 is NaN, not minus zero, and keeps its sign bit", "[reports]") {
  CHECK(test::bits_of_float(float(e4m3fnuz::from_bits(0x80))) == 0xffc0'0000);
  CHECK(test::bits_of_float(float(e5m2fnuz::from_bits(0x80))) == 0xffc0'0000);
}

// C10: onnx#6220, onnx PR 7130.
TEST_CASE("infinity in a FNUZ format follows the named policy", "[reports]") {
  CHECK(code<e4m3fnuz, saturating>(infinity) == 0x7f);
  CHECK(code<e4m3fnuz, saturating>(-infinity) == 0xff);
  CHECK(code<e4m3fnuz, nonsaturating>(infinity) == 0x80);
  CHECK(code<e4m3fnuz, nonsaturating>(-infinity) == 0x80);
  CHECK(code<e5m2fnuz, like_onnx_saturate>(-infinity) == 0xff);
  CHECK(code<e5m2fnuz, like_ml_dtypes_saturate>(infinity) == 0x80);
}

// C11: mlx#4135, #4164, PR 4376.
TEST_CASE("E4M3 7f and ff decode to NaN, not to 480", "[reports]") {
  CHECK(isnan(e4m3::from_bits(0x7f)));
  CHECK(test::bits_of_float(float(e4m3::from_bits(0x7f))) == 0x7fc0'0000);
  CHECK(test::bits_of_float(float(e4m3::from_bits(0xff))) == 0xffc0'0000);
}

// C13: cutlass#3508, #3493, PR 3620.
TEST_CASE("the lowest scale is 2^-127", "[reports]") {
  CHECK(float(std::numeric_limits<e8m0>::lowest()) == 0x1p-127f);
}

// C16: cccl#665, Fuser#3245.
TEST_CASE("no integer literal is ambiguous", "[reports]") {
  CHECK(code<e4m3>(1) == 0x38);
  CHECK(code<e4m3>(1u) == 0x38);
  CHECK(code<e4m3>(1l) == 0x38);
  CHECK(code<e4m3>(1ul) == 0x38);
  CHECK(code<e4m3>(1ll) == 0x38);
  CHECK(code<e4m3>(1ull) == 0x38);
  CHECK(code<e4m3>(static_cast<short>(-1)) == 0xb8);
  CHECK(code<e4m3>(static_cast<std::int8_t>(-128)) == 0xf0);
}

// C18: cccl#525, #3349, #3832. C22: openvino PR 22278.
TEST_CASE("numeric_limits is specialised and right", "[reports]") {
  CHECK(std::numeric_limits<e4m3>::is_specialized);
  CHECK(std::numeric_limits<e4m3>::digits == 4);
  CHECK(std::numeric_limits<e4m3>::max_exponent == 9);
  CHECK(std::numeric_limits<e5m2>::digits == 3);
}

// C20: llvm PR 214919, PR 223286, #224353, PR 113298.
TEST_CASE("a scale of NaN, infinity or a negative number is NaN; the sign touches no exponent bit",
          "[reports]") {
  for (const e8m0_rounding r :
       {e8m0_rounding::floor, e8m0_rounding::nearest_up, e8m0_rounding::nearest_even, e8m0_rounding::up}) {
    CHECK(convert_e8m0(plus_nan, r).bits() == 0xff);
    CHECK(convert_e8m0(infinity, r).bits() == 0xff);
    CHECK(convert_e8m0(-2.0f, r).bits() == 0xff);
    CHECK(convert_e8m0(-0.0f, r).bits() == 0x00);
  }
  CHECK(test::bits_of_float(float(e8m0::from_bits(0xff))) == 0x7fc0'0000);
}

// C21: openvino PR 30057, #34165. C32: iree PR 20242.
TEST_CASE("subnormal results are rounded once and do not wrap", "[reports]") {
  CHECK(code<e4m3>(0x1p-9f) == 0x01);
  CHECK(code<e4m3>(0x1.8p-9f) == 0x02);  // 1.5 units: tie to even
  CHECK(code<e4m3>(0x1.7ffffep-9f) == 0x01);
  CHECK(code<e4m3>(0x1.cp-7f) == 0x07);
  CHECK(code<e4m3>(0x1.dffffep-7f) == 0x07);
  CHECK(code<e4m3>(0x1.ep-7f) == 0x08);  // carries into the smallest normal
  CHECK(code<e5m2>(0x1.8p-15f) == 0x03);
  CHECK(code<e5m2>(0x1.cp-15f) == 0x04);
}

// C23: sglang PR 40581, tilelang-metax#140, ggml ue4m3.
TEST_CASE("256 .. 448 are finite in E4M3", "[reports]") {
  for (unsigned i = 0; i < 7; ++i) {
    CHECK(code<e4m3>(256 + 32 * i) == 0x78 + i);
    CHECK(code<e4m3>(256 + 32 * i + 16) == 0x78 + (i + 1) / 2 * 2);  // ties to even
  }
}

// C26: 1bit-MONSTER#300.
TEST_CASE("byte 01 decodes to the smallest subnormal", "[reports]") {
  CHECK(float(e4m3::from_bits(0x01)) == 0x1p-9f);
  CHECK(float(e5m2::from_bits(0x01)) == 0x1p-16f);
}

// C27: oneDNN PR 2903.
TEST_CASE("stochastic rounding goes up as often as the distance says", "[reports]") {
  int ups = 0;
  for (std::uint32_t bits = 0; bits < 256; ++bits)
    ups += convert<e4m3, random_rounding>(1.03125f, bits, 8).bits() == 0x39;
  CHECK(ups == 64);  // a quarter of a unit
}

// C28: ROCm/llvm-project PR 3275.
TEST_CASE("stochastic rounding carries into the exponent", "[reports]") {
  CHECK(convert<e4m3, random_rounding>(0x1.fp0f, 0xff, 8).bits() == 0x40);
  CHECK(convert<e5m2, random_rounding>(0x1.ep-15f, 0xff, 8).bits() == 0x04);  // subnormal to normal
  CHECK(convert<e4m3, random_rounding>(0x1.fp0f, 0x00, 8).bits() == 0x3f);
}

// C30: hipDNN PR 7517.
TEST_CASE("decoding is constexpr and a NaN has one fixed sign", "[reports]") {
  static_assert(float(e4m3::from_bits(0x07)) == 0x1.cp-7f);
  static_assert(convert<e4m3>(-float(std::numeric_limits<float>::quiet_NaN())).bits() == 0x7f);
  CHECK(code<e4m3>(float_of(0xffc0'0000)) == 0x7f);
}

// C33: riscv-isa-sim#2268, #2284; saturn-vectors PR 101.
TEST_CASE("E5M2 NaN is 7f; overflow toward zero is the policy's", "[reports]") {
  CHECK(code<e5m2>(plus_nan) == 0x7f);
  CHECK(code<e5m2, truncating>(1e9f) == 0x7b);
  CHECK(code<e5m2, truncating_nonfinite>(1e9f) == 0x7c);
}

// C35: tensorflow#57918. C38: ONNX Runtime float8.h. C39: PyTorch vec512 ne().
TEST_CASE("comparison is numeric, not of bytes", "[reports]") {
  const e4m3 minus_one = convert<e4m3>(-1), one = convert<e4m3>(1), not_a_number = convert<e4m3>(plus_nan);
  CHECK(one > minus_one);
  CHECK(minus_one < one);
  CHECK(e4m3::from_bits(0) == e4m3::from_bits(0x80));
  CHECK_FALSE(not_a_number == not_a_number);
  CHECK(not_a_number != not_a_number);
  CHECK(one != minus_one);
  CHECK_FALSE(one != one);
}

// C36: vllm#49410. C42: NumKong Haswell.
TEST_CASE("NaN stays NaN in both formats, also when saturating", "[reports]") {
  CHECK(isnan(convert<e4m3, saturating>(plus_nan)));
  CHECK(isnan(convert<e5m2, saturating>(plus_nan)));
  CHECK(isnan(convert<e5m2, nonsaturating>(plus_nan)));
  CHECK(isnan(convert<e4m3, saturating>(float_of(0x7f80'0001))));
}

// C40: ONNX Runtime, saturate = 0.
TEST_CASE("480 and 490 are NaN without saturation", "[reports]") {
  CHECK(code<e4m3, nonsaturating>(480.0f) == 0x7f);
  CHECK(code<e4m3, nonsaturating>(490.0f) == 0x7f);
  CHECK(code<e5m2, nonsaturating>(61440.0f) == 0x7c);
  CHECK(code<e5m2, nonsaturating>(65535.0f) == 0x7c);
}

// C41: HIP 2024-10, NOSAT.
TEST_CASE("values that round down to the maximum do not overflow", "[reports]") {
  CHECK(code<e4m3, nonsaturating>(449.0f) == 0x7e);
  CHECK(code<e5m2, nonsaturating>(61439.0f) == 0x7b);
}

// C43: CUTLASS, universal.
TEST_CASE("a double is not rounded to float first", "[reports]") {
  CHECK(code<e4m3, nonsaturating>(0x1.1000000001p0) == 0x39);
  CHECK(code<e4m3, nonsaturating>(0x1.0000000001p-10) == 0x01);
  CHECK(code<e4m3, nonsaturating>(0x1.d000000000001p8) == 0x7f);
}

// C44: oneDNN and libxsmm references round float to fp16 first. C45: vLLM's CPU encoder scales by 2^-120 first.
TEST_CASE("a float is rounded once at the smallest subnormal", "[reports]") {
  CHECK(code<e4m3>(float_of(0x3a80'0001)) == 0x01);
  CHECK(code<e5m2>(float_of(0x3700'0001)) == 0x01);
  CHECK(code<e4m3>(float_of(0x3a80'0000)) == 0x00);
  CHECK(code<e5m2>(float_of(0x3700'0000)) == 0x00);
}
