// SPDX-License-Identifier: Apache-2.0
// The bits of many products in a file compiled for x86-64-v3: the same everywhere.
#include "tests/ops/gemm_digest.hpp"

#include "tests/catch.hpp"

using namespace ofp8;
using namespace ofp8::test;

TEST_CASE("a file compiled for x86-64-v3 gets the same products", "[ops][gemm][flags]") {
  for (const isa i : available_isas()) {
    INFO(name(i));
    CHECK(gemm_digest(by_isa(i)) == expected_gemm_digest);
  }
}
