// SPDX-License-Identifier: Apache-2.0
// Errors are sentences, built without allocation, of two types that a caller can tell apart.
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <ofp8/core/error.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

static_assert(std::is_base_of_v<std::invalid_argument, shape_error> &&
              std::is_base_of_v<std::invalid_argument, argument_error>);
static_assert(!std::is_base_of_v<shape_error, argument_error> &&
              !std::is_base_of_v<argument_error, shape_error>);

TEST_CASE("a message is built from text, numbers and extents", "[error]") {
  detail::message m;
  m << "gemm_nt: A is " << detail::extent{4, 256} << ", B is " << detail::extent{32, 128} << ": K differs"
    << '.';
  CHECK(std::string(m.text()) == "gemm_nt: A is 4x256, B is 32x128: K differs.");

  detail::message numbers;
  numbers << 0 << ' ' << -7 << ' ' << 7u << ' ' << (std::numeric_limits<std::int64_t>::min)() << ' '
          << (std::numeric_limits<std::int64_t>::max)() << ' ' << (std::numeric_limits<std::uint64_t>::max)()
          << ' ' << 0.25;
  CHECK(std::string(numbers.text()) ==
        "0 -7 7 -9223372036854775808 9223372036854775807 18446744073709551615 0.25");
}

TEST_CASE("a message that is too long is cut, not overrun", "[error]") {
  detail::message m;
  for (int i = 0; i < 1000; ++i) m << "0123456789";
  const std::string text = m.text();
  CHECK(text.size() < 1000);
  CHECK(text.size() > 100);
  for (std::size_t i = 0; i < text.size(); ++i) REQUIRE(text[i] == static_cast<char>('0' + i % 10));
}

TEST_CASE("an error carries its sentence", "[error]") {
  detail::message m;
  m << "encode: in has " << 3 << " elements, out has " << 4;
  CHECK_THROWS_AS(detail::fail<shape_error>(m), shape_error);
  CHECK_THROWS_AS(detail::fail<argument_error>(m), std::invalid_argument);
  CHECK_THROWS_WITH(detail::fail<shape_error>(m), "encode: in has 3 elements, out has 4");
}
