// SPDX-License-Identifier: Apache-2.0
// The bytes that the operations return in a file compiled for AVX2 and FMA: the same everywhere.
#include "tests/ops/digest.hpp"

#include "tests/catch.hpp"

using namespace ofp8;

TEST_CASE("a file compiled for AVX2 and FMA gets the same bytes", "[ops][flags]") {
  for (isa i : available_isas()) {
    INFO(name(i));
    CHECK(test::codec_digest(i) == test::expected_codec_digest);
    CHECK(test::quantize_digest(i) == test::expected_quantize_digest);
  }
  CHECK(test::metrics_digest() == test::expected_metrics_digest);
}
