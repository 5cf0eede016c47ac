// SPDX-License-Identifier: Apache-2.0
// The version macros are numbers that the preprocessor can compare.
#include <ofp8/core/config.hpp>

#include "tests/catch.hpp"

#if OFP8_VERSION_MAJOR * 10000 + OFP8_VERSION_MINOR * 100 + OFP8_VERSION_PATCH < 100
#error "the version is below 0.1.0"
#endif

TEST_CASE("the version is known to the preprocessor", "[config]") {
  CHECK(OFP8_VERSION_MAJOR >= 0);
  CHECK(OFP8_VERSION_MINOR >= 0);
  CHECK(OFP8_VERSION_PATCH >= 0);
}
