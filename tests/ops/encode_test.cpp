// SPDX-License-Identifier: Apache-2.0
// encode and decode as users call them: the ranges they take, the policies, threads, the caller's
// floating-point environment, errors.
#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

std::vector<float> floats_from(const std::vector<std::uint32_t>& bits) {
  std::vector<float> x;
  for (std::uint32_t b : bits) x.push_back(float_of(b));
  return x;
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing thrown";
}

template <auto P = saturating, class In, class E>
std::string report(const std::vector<In>& in, const std::vector<E>& codes) {
  differences d;
  for (std::size_t i = 0; i < in.size(); ++i) d.check(codes[i].bits(), convert<E, P>(in[i]).bits(), i);
  return d.report();
}

}  // namespace

TEST_CASE("encode takes any contiguous range and deduces both types", "[ops][encode]") {
  const std::vector<float> in{0.3f, -1e9f, 0.0f};
  const std::array<std::uint8_t, 3> wanted{0x2a, 0xfe, 0x00};
  const auto check = [&](auto&& codes) {
    for (std::size_t i = 0; i < 3; ++i) CHECK(codes[i].bits() == wanted[i]);
  };

  std::vector<e4m3> vector(3);
  encode(in, vector);
  check(vector);

  std::array<e4m3, 3> array;
  encode(std::span<const float>(in), array);
  check(array);

  float c_array[3] = {0.3f, -1e9f, 0.0f};
  e4m3 c_codes[3];
  encode(c_array, c_codes, {.isa = isa::scalar});
  check(c_codes);

  encode(std::vector<float>(in), std::span<e4m3>(vector));  // a temporary as input, a span as output
  check(vector);

  std::vector<std::byte> bytes(3);
  encode(in, as_codes<e4m3>(bytes));
  check(as_codes<e4m3>(bytes));

  std::vector<float> out(3);
  decode(as_codes<e4m3>(std::span<const std::byte>(bytes)), out);
  CHECK(out == std::vector<float>{0.3125f, -448.0f, 0.0f});
}

TEST_CASE("encode follows the policy it is given", "[ops][encode]") {
  const std::vector<float> in{1e9f, float_of(0xffc0'0000), 447.0f};
  std::vector<e4m3> codes(3);
  encode<like_ml_dtypes>(in, codes);
  CHECK(codes[0].bits() == 0x7f);
  CHECK(codes[1].bits() == 0xff);
  encode<policy{.rounding = rounding_mode::toward_zero}>(in, codes);
  CHECK(codes[0].bits() == 0x7e);
  CHECK(codes[2].bits() == 0x7d);  // 416
}

TEMPLATE_TEST_CASE("between two FP8 formats encode is convert", "[ops][encode]", e4m3, e5m2, e4m3fnuz,
                   e5m2fnuz) {
  for_each_fp8([]<class From>(From) {
    std::vector<From> in;
    for (unsigned i = 0; i < 256 * 9 + 5; ++i)
      in.push_back(From::from_bits(i & 0xff));  // more than one buffer
    std::vector<TestType> codes(in.size());
    encode(in, codes);
    CHECK(report(in, codes) == "");
    encode<like_torch>(in, codes);
    CHECK(report<like_torch>(in, codes) == "");
  });
}

TEST_CASE("any number of threads, executor and instruction set: the same bytes", "[ops][encode]") {
  random_source random(23);
  std::vector<float> in(300'001);
  for (float& x : in) x = float_of(random.bits32());
  std::vector<e5m2> wanted(in.size());
  encode(in, wanted);
  CHECK(report(in, wanted) == "");
  std::vector<float> back(in.size());
  decode(wanted, back);

  for (isa i : available_isas()) {
    for (int threads = 1; threads <= 8; ++threads) {
      thread_pool pool(threads);
      std::vector<e5m2> codes(in.size(), e5m2::from_bits(0x55));
      encode(in, codes, {.executor = pool, .isa = i});
      const bool same_codes = std::equal(codes.begin(), codes.end(), wanted.begin(),
                                         [](e5m2 a, e5m2 b) { return a.bits() == b.bits(); });
      CHECK(same_codes);
      std::vector<float> values(in.size());
      decode(codes, values, {.executor = pool, .isa = i});
      const bool same_values = std::equal(values.begin(), values.end(), back.begin(), [](float a, float b) {
        return bits_of_float(a) == bits_of_float(b);
      });
      CHECK(same_values);
    }
  }
}

TEMPLATE_TEST_CASE("the caller's rounding mode, FTZ and DAZ change nothing and come back", "[ops][encode]",
                   e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  const std::vector<float> in = floats_from(stratified_floats());
  std::vector<TestType> wanted;
  for (float x : in) wanted.push_back(convert<TestType>(x));
  std::vector<std::uint16_t> codes16(0x10000);
  std::vector<fp16> halves;
  for (unsigned i = 0; i < 0x10000; ++i) halves.push_back(fp16::from_bits(i));

  differences d;
  for (isa i : available_isas()) {
    thread_pool pool(2);
    for_each_fp_environment([&] {
      const int mode = std::fegetround();
      const std::uint32_t control = static_cast<std::uint32_t>(detail::read_fp_control()) &
                                    ~static_cast<std::uint32_t>(detail::fp_status_flags);
      std::vector<TestType> codes(in.size());
      encode(in, codes, {.executor = pool, .isa = i});
      for (std::size_t k = 0; k < in.size(); ++k)
        d.check(codes[k].bits(), wanted[k].bits(), bits_of_float(in[k]), "float");

      std::vector<TestType> from_halves(halves.size());
      encode(halves, from_halves, {.isa = i});
      std::vector<fp16> back(codes.size());
      decode(codes, back, {.isa = i});
      std::vector<float> values(codes.size());
      decode(codes, values, {.isa = i});
      for (std::size_t k = 0; k < halves.size(); ++k)
        d.check(from_halves[k].bits(), convert<TestType>(halves[k]).bits(), k, "fp16");
      for (std::size_t k = 0; k < codes.size(); ++k) {
        d.check(bits_of_float(values[k]), bits_of_float(detail::widen(TestType::spec, codes[k].bits())), k,
                "decoded");
        if (!isnan(codes[k]))
          d.check(back[k].bits(), detail::round_to(fp16::spec, nonsaturating, detail::unpack(codes[k])), k,
                  "decoded to fp16");
      }
      d.check(static_cast<std::uint64_t>(std::fegetround()), static_cast<std::uint64_t>(mode), 0,
              "rounding mode");
      d.check(static_cast<std::uint32_t>(detail::read_fp_control()) &
                  ~static_cast<std::uint32_t>(detail::fp_status_flags),
              control, 0, "control");
    });
  }
  CHECK(d.report() == "");
}

TEST_CASE("empty ranges are fine", "[ops][encode]") {
  std::vector<float> in;
  std::vector<e4m3> codes;
  thread_pool pool(2);
  encode(in, codes, {.executor = pool});
  decode(codes, in, {.executor = pool});
  CHECK(codes.empty());
}

TEST_CASE("encode and decode refuse lengths that differ and machines that are not there",
          "[ops][encode][errors]") {
  std::vector<float> five(5);
  std::vector<e4m3> four(4);
  CHECK(message_of([&] { encode(five, four); }) == "encode: in has 5 elements, out has 4: lengths differ");
  CHECK(message_of([&] { decode(four, five); }) == "decode: in has 4 elements, out has 5: lengths differ");
  CHECK_THROWS_AS(encode(five, four), shape_error);
#if defined(__x86_64__)
  std::vector<e4m3> codes(5);
  CHECK_THROWS_AS(encode(five, codes, {.isa = isa::neon}), argument_error);
  CHECK(message_of([&] {
          decode(codes, five, {.isa = isa::neon});
        }).find("decode: isa neon is not available on this machine") == 0);
#endif
}

namespace {
template <class In, class Out>
concept encodes = requires(const In& in, Out&& out) {
  encode(in, static_cast<Out&&>(out));
};
template <class In, class Out>
concept decodes = requires(const In& in, Out&& out) {
  decode(in, static_cast<Out&&>(out));
};
}  // namespace

TEST_CASE("what cannot be encoded or written to does not compile", "[ops][encode]") {
  STATIC_REQUIRE(encodes<std::vector<float>, std::vector<e4m3>&>);
  STATIC_REQUIRE_FALSE(encodes<std::vector<float>, std::vector<e4m3>>);         // a temporary that owns
  STATIC_REQUIRE_FALSE(encodes<std::vector<float>, const std::vector<e4m3>&>);  // const
  STATIC_REQUIRE_FALSE(encodes<std::vector<double>, std::vector<e4m3>&>);
  STATIC_REQUIRE_FALSE(encodes<std::vector<float>, std::vector<std::uint8_t>&>);
  STATIC_REQUIRE(decodes<std::vector<e4m3>, std::vector<bf16>&>);
  STATIC_REQUIRE_FALSE(decodes<std::vector<float>, std::vector<float>&>);
}
