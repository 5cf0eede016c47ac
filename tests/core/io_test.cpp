// SPDX-License-Identifier: Apache-2.0
// What a stream shows of each type.
#include <sstream>
#include <string>

#include <ofp8/core/convert.hpp>
#include <ofp8/core/io.hpp>

#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"

using namespace ofp8;

namespace {

template <class T>
std::string printed(T x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

TEST_CASE("a stream shows the number, not the byte", "[io]") {
  CHECK(printed(convert<e4m3>(0.3f)) == "0.3125");
  CHECK(printed(e4m3::from_bits(0x41)) == "2.25");  // 0x41 is also 'A'
  CHECK(printed(e4m3::from_bits(0xfe)) == "-448");
  CHECK(printed(e4m3::from_bits(0x80)) == "-0");
  CHECK(printed(e4m3::from_bits(0x01)) == "0.00195312");  // six digits, as a float has them
  CHECK(printed(e5m2::from_bits(0x7b)) == "57344");
  CHECK(printed(e5m2fnuz::from_bits(0x40)) == "1");
  CHECK(printed(bf16::from_bits(0x4049)) == "3.14062");
  CHECK(printed(fp16::from_bits(0x7bff)) == "65504");
  CHECK(printed(e8m0::from_bits(0x76)) == "0.00195312");
}

TEST_CASE("a stream shows NaN and infinity by name", "[io]") {
  CHECK(printed(e4m3::from_bits(0x7f)) == "nan");
  CHECK(printed(e4m3::from_bits(0xff)) == "-nan");
  CHECK(printed(e4m3fnuz::from_bits(0x80)) == "-nan");  // as its float: the sign bit is set
  CHECK(printed(e5m2::from_bits(0x7c)) == "inf");
  CHECK(printed(e5m2::from_bits(0xfc)) == "-inf");
  CHECK(printed(fp16::from_bits(0x7c00)) == "inf");
  CHECK(printed(bf16::from_bits(0x7fc0)) == "nan");
  CHECK(printed(e8m0::from_bits(0xff)) == "nan");
}

TEST_CASE("the stream's own format applies", "[io]") {
  std::ostringstream out;
  out.precision(3);
  out << std::fixed << e4m3::from_bits(0x2a) << ' ' << bf16::from_bits(0x3f80);
  CHECK(out.str() == "0.312 1.000");
}

#if defined(__x86_64__)
TEST_CASE("subnormal floats are shown with denormals-are-zero set", "[io]") {
  const unsigned control = _mm_getcsr();
  _mm_setcsr(control | test::denormals_are_zero);
  const std::string scale = printed(e8m0::from_bits(0)), small = printed(bf16::from_bits(1));
  _mm_setcsr(control);
  CHECK(scale == "5.87747e-39");
  CHECK(small == "9.18355e-41");
}
#endif

#if defined(__cpp_lib_format)
TEST_CASE("std::format shows the number", "[io]") {
  CHECK(std::format("{} {} {}", e4m3::from_bits(0x2a), bf16::from_bits(0x3f80), e8m0::from_bits(0x80)) ==
        "0.3125 1 2");
  CHECK(std::format("{:.1f}", e5m2::from_bits(0x3c)) == "1.0");
}
#endif
