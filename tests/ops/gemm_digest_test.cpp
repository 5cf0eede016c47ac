// SPDX-License-Identifier: Apache-2.0
// The bits of many products in a plain file: the reference's, and in every floating-point environment that a
// caller may have set.
#include "tests/ops/gemm_digest.hpp"

#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"

using namespace ofp8;
using namespace ofp8::test;

TEST_CASE("a plain file gets the same products", "[ops][gemm][flags]") {
  CHECK(gemm_digest(by_reference) == expected_gemm_digest);
  for (const isa i : available_isas()) {
    INFO(name(i));
    CHECK(gemm_digest(by_isa(i)) == expected_gemm_digest);
  }
}

TEST_CASE("products do not depend on the caller's rounding mode, FTZ and DAZ, on any thread", "[ops][gemm]") {
  random_source random(32);
  // Sums and scales far below the normal numbers, and roundings everywhere.
  auto a = random_scaled<e4m3, per_group<32>>(5, 100, random, content::ordinary);
  const auto b = random_scaled<e5m2, per_channel>(70, 100, random, content::ordinary);
  for (std::ptrdiff_t r = 0; r < 5; r += 2)
    for (std::ptrdiff_t g = 0; g < 4; ++g) a.scales()(r, g) *= 0x1p-130f;
  auto x = random_matrix<float>(5, 100, random, content::special);
  const auto bias = random_bias(70, random, content::special);
  const auto c = random_matrix<float>(5, 70, random, content::special);
  const gemm_options<float> options{.bias = bias, .addend = c.view()};
  plain_output<float> wanted(5, 70, 0), wanted_x(5, 70, 0);
  reference::gemm_nt(a, b, wanted.operand(), options);
  reference::gemm_nt(x, b, wanted_x.operand(), options);

  std::string report;
  unsigned changed = 0;
  for (const isa i : available_isas()) {
    for_each_fp_environment([&] {
      const unsigned before = detail::read_fp_control();
      for (const std::size_t threads : {1u, 3u}) {
        plain_output<float> d(5, 70, 0), dx(5, 70, 0);
        gemm_nt(a, b, d.operand(), options, {.executor = pool_of(threads), .isa = i});
        gemm_nt(x, b, dx.operand(), options, {.executor = pool_of(threads), .isa = i});
        report += difference(d, wanted) + difference(dx, wanted_x);
      }
      changed += detail::read_fp_control() != before;
    });
  }
  CHECK(report == "");
  CHECK(changed == 0);  // the caller's own environment is as it was
}
