// SPDX-License-Identifier: Apache-2.0
// encode of all 2^32 floats on every backend, against runs of equal codes found by searching each format's
// values. Codes grow with the float, so a code whose first and last float are known is known in between.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <ofp8/arch/dispatch.hpp>
#include <ofp8/ops/encode.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"

using namespace ofp8;

namespace {

constexpr std::uint32_t block = 1u << 14;
constexpr std::uint32_t blocks_of_a_sign = 0x8000'0000u / block;

/// The worst environment a caller can be in: everything rounded up, subnormals flushed on the way in and out.
class hostile_environment {
 public:
  hostile_environment() {
    std::fegetenv(&caller_);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | test::flush_to_zero | test::denormals_are_zero);
#endif
  }
  ~hostile_environment() { std::fesetenv(&caller_); }
  hostile_environment(const hostile_environment&) = delete;
  hostile_environment& operator=(const hostile_environment&) = delete;

 private:
  std::fenv_t caller_;
};

/// The codes of the floats first .. first + block - 1 (magnitude bits), from their runs.
void fill_expected(const std::vector<test::run>& runs, std::uint32_t first,
                   std::vector<std::uint8_t>& codes) {
  auto next = std::upper_bound(runs.begin(), runs.end(), first,
                               [](std::uint32_t bits, const test::run& r) { return bits < r.first; });
  std::uint32_t done = 0;
  while (done < block) {
    const std::uint32_t end = next == runs.end() ? block : std::min(block, next->first - first);
    std::memset(codes.data() + done, static_cast<int>((next - 1)->code), end - done);
    done = end;
    if (next != runs.end()) ++next;
  }
}

/// Every `step`-th block of the floats of one sign, from block `begin` on. Operands are misaligned by one to
/// three elements in three blocks of four.
template <class E, auto P>
test::differences sweep(const test::specials& codes, bool negative, isa where, std::uint32_t begin,
                        std::uint32_t step) {
  const std::vector<test::run> runs = test::runs_of_floats<E>(codes, negative);
  const std::uint32_t sign = negative ? 0x8000'0000u : 0;
  std::vector<float> in(block + 4);
  std::vector<E> out(block + 4);
  std::vector<std::uint8_t> wanted(block);
  test::differences d;
  for (std::uint32_t b = begin; b < blocks_of_a_sign; b += step) {
    const std::uint32_t first = b * block;
    float* x = in.data() + b % 4;
    E* y = out.data() + b % 4;
    for (std::uint32_t i = 0; i < block; ++i) {
      const std::uint32_t bits = sign | (first + i);
      std::memcpy(x + i, &bits, sizeof bits);
    }
    encode<P>(std::span<const float>(x, block), std::span<E>(y, block), {.isa = where});
    fill_expected(runs, first, wanted);
    const bool equal = std::memcmp(y, wanted.data(), block) == 0;
    for (std::uint32_t i = 0; !equal && i < block; ++i)
      d.check(y[i].bits(), wanted[i], sign | (first + i), "float");
    d.check(equal, true, sign | first, "block");
  }
  return d;
}

/// All 2^32 floats, two threads. `hostile` as said above.
template <class E, auto P>
void check_all_floats(const test::specials& codes, isa where, bool hostile) {
  std::string reports[2];
  std::uint64_t checked[2] = {};
  const auto half = [&](unsigned t) {
    for (const bool negative : {false, true}) {
      test::differences d;
      if (hostile) {
        const hostile_environment environment;
        d = sweep<E, P>(codes, negative, where, t, 2);
      } else {
        d = sweep<E, P>(codes, negative, where, t, 2);
      }
      reports[t] += d.report();
      checked[t] += d.checked();
    }
  };
  std::thread other(half, 1u);
  half(0);
  other.join();
  INFO(test::layout_of<E>.name << " on " << name(where));
  CHECK(reports[0] == "");
  CHECK(reports[1] == "");
  CHECK(checked[0] + checked[1] == (std::uint64_t{1} << 32) / block);
}

}  // namespace

TEST_CASE("the expected runs have one step per code and end at infinity and NaN", "[ops][exhaustive]") {
  const auto& codes = std::get<0>(test::presets).e4m3_codes;
  const std::vector<test::run> runs = test::runs_of_floats<e4m3>(codes, false);
  REQUIRE(runs.size() == 127 + 2);
  CHECK(runs[1].first == 0x3a80'0001);  // just above the tie at 2^-10
  CHECK(runs[126].code == 0x7e);
  CHECK(runs[127].first == 0x7f80'0000);
  CHECK(runs[127].code == 0x7e);
  CHECK(runs[128].code == 0x7f);
}

TEMPLATE_TEST_CASE("all 2^32 floats become the nearest code, saturating, on every backend",
                   "[ops][exhaustive]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  const auto& preset = std::get<0>(test::presets);
  for (const isa i : available_isas())
    check_all_floats<TestType, saturating>(preset.codes<TestType>(), i, false);
}

TEMPLATE_TEST_CASE(
    "all 2^32 floats become the nearest code, not saturating, in a hostile environment, on every backend",
    "[ops][exhaustive]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  const auto& preset = std::get<1>(test::presets);
  for (const isa i : available_isas())
    check_all_floats<TestType, nonsaturating>(preset.codes<TestType>(), i, true);
}
