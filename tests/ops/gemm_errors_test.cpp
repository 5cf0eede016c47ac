// SPDX-License-Identifier: Apache-2.0
// What gemm_nt refuses, and the sentence that it says.
#include "tests/catch.hpp"
#include "tests/ops/gemm_cases.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const shape_error& e) {
    return std::string("shape: ") + e.what();
  } catch (const argument_error& e) {
    return std::string("argument: ") + e.what();
  }
  return "none";
}

using token = scaled_matrix<e4m3, per_token>;
using channel = scaled_matrix<e4m3, per_channel>;

template <class A, class B, class D>
concept multiplies = requires(A a, B b, D d) {
  gemm_nt(a, b, static_cast<D>(d));
};

// What fits, and what does not compile: D that is const or gone after the call, operands without scales.
static_assert(multiplies<token, channel, matrix<float>&>);
static_assert(multiplies<token, channel, matrix_view<bf16>>);
static_assert(multiplies<token, packed_weight<e5m2, mx<32>>, scaled_matrix<e4m3, per_tensor>&>);
static_assert(multiplies<token, packed_view<e5m2, mx<32>>, scaled_view<e4m3, per_tensor>>);
static_assert(multiplies<matrix<bf16>, channel, matrix<bf16>&>);
static_assert(!multiplies<token, channel, matrix<float>>);
static_assert(!multiplies<token, channel, scaled_matrix<e4m3, per_tensor>>);
static_assert(!multiplies<token, channel, matrix_view<const float>>);
static_assert(!multiplies<token, channel, scaled_view<const e4m3, per_tensor>>);
static_assert(!multiplies<token, channel, scaled_matrix<e4m3, per_token>&>);
static_assert(!multiplies<token, channel, matrix<double>&>);
static_assert(!multiplies<token, channel, matrix<e4m3>&>);
static_assert(!multiplies<matrix<e4m3>, channel, matrix<float>&>);
static_assert(!multiplies<token, matrix<e4m3>, matrix<float>&>);
static_assert(!multiplies<token, matrix<float>, matrix<float>&>);
static_assert(!multiplies<packed_weight<e4m3, per_token>, channel, matrix<float>&>);
static_assert(!multiplies<scaled_matrix<std::int8_t, per_token>, channel, matrix<float>&>);

}  // namespace

TEST_CASE("gemm_nt names the operand that does not fit, with both shapes", "[ops][gemm][errors]") {
  const token a(4, 256);
  const channel b(32, 256), shallow(32, 128);
  matrix<float> d(4, 32), narrow(4, 31), low(3, 32);
  CHECK(error_of([&] { gemm_nt(a, b, d); }) == "none");
  CHECK(error_of([&] { gemm_nt(a, shallow, d); }) == "shape: gemm_nt: A is 4x256, B is 32x128: K differs");
  CHECK(error_of([&] { gemm_nt(a, pack(shallow), d); }) ==
        "shape: gemm_nt: A is 4x256, B is 32x128: K differs");
  CHECK(error_of([&] { gemm_nt(a, b, narrow); }) ==
        "shape: gemm_nt: A is 4x256, B is 32x256, D is 4x31: D must be 4x32");
  CHECK(error_of([&] { gemm_nt(a, b, low); }) ==
        "shape: gemm_nt: A is 4x256, B is 32x256, D is 3x32: D must be 4x32");
  const std::vector<float> bias(31);
  CHECK(error_of([&] { gemm_nt(a, b, d, {.bias = bias}); }) ==
        "shape: gemm_nt: bias has 31 elements, B is 32x256: bias must have 32");
  CHECK(error_of([&] { gemm_nt(a, b, d, {.addend = narrow.view()}); }) ==
        "shape: gemm_nt: addend is 4x31, D is 4x32: shapes differ");
  CHECK(error_of([&] { gemm_nt(a, b, d, {.addend = matrix_view<const float>(nullptr, 3, 32)}); }) ==
        "shape: gemm_nt: addend is 3x32, D is 4x32: shapes differ");
}

TEST_CASE("gemm_nt refuses an addend that overlaps D without being D", "[ops][gemm][errors]") {
  const token a(4, 8);
  const channel b(32, 8);
  std::vector<float> memory(4 * 40);
  const matrix_view<float> d(memory.data(), 4, 32, 40), c(memory.data(), 4, 32, 33);
  CHECK(error_of([&] { gemm_nt(a, b, d, {.addend = c}); }) ==
        "argument: gemm_nt: addend begins where D does with leading dimension 33, D has 40: an addend that "
        "overlaps D "
        "must be D");
  CHECK(error_of([&] { gemm_nt(a, b, d, {.addend = d}); }) == "none");
}

TEST_CASE("gemm_nt refuses an isa that this machine lacks and scratch that is too small",
          "[ops][gemm][errors]") {
  const token a(4, 8);
  const channel b(32, 8);
  matrix<float> d(4, 32);
  const isa missing = isa::neon;
  if (!available_isas().contains(missing)) {
    const std::string message = error_of([&] { gemm_nt(a, b, d, {}, {.isa = missing}); });
    CHECK(message.rfind("argument: gemm_nt: isa neon is not available on this machine", 0) == 0);
    CHECK(error_of([&] {
            (void)gemm_scratch_bytes(a, b, {.isa = missing});
          }).rfind("argument: gemm_scratch_bytes: isa neon", 0) == 0);
  }
  std::vector<std::byte> scratch(gemm_scratch_bytes(a, b));
  CHECK(error_of([&] { gemm_nt(a, b, d, {}, {.scratch = scratch}); }) == "none");
  const std::string sizes = std::to_string(scratch.size() - 1) + " bytes, " + std::to_string(scratch.size());
  scratch.pop_back();
  CHECK(error_of([&] { gemm_nt(a, b, d, {}, {.scratch = scratch}); }) ==
        "argument: gemm_nt: scratch has " + sizes + " are needed");
}

TEST_CASE("a refused call writes nothing", "[ops][gemm][errors]") {
  const token a(4, 8);
  const channel b(32, 8);
  matrix<float> d(4, 32);
  d(3, 31) = 7.0f;
  const std::vector<float> bias(31);
  CHECK_THROWS_AS(gemm_nt(a, b, d, {.bias = bias}), shape_error);
  CHECK(d(3, 31) == 7.0f);
}
