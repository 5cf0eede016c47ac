// SPDX-License-Identifier: Apache-2.0
// The bits of many products in a file compiled with -ffast-math: the same everywhere.
#include "tests/ops/gemm_digest.hpp"

#include "tests/catch.hpp"

using namespace ofp8;
using namespace ofp8::test;

TEST_CASE("a file compiled with -ffast-math gets the same products", "[ops][gemm][flags]") {
  CHECK(gemm_digest(by_reference) == expected_gemm_digest);
  for (const isa i : available_isas()) {
    INFO(name(i));
    CHECK(gemm_digest(by_isa(i)) == expected_gemm_digest);
  }
}
