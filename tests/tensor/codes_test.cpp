// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/tensor/codes.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

template <class Code, class Bytes>
concept seen_as_codes = requires(Bytes&& bytes) {
  as_codes<Code>(std::forward<Bytes>(bytes));
};

static_assert(seen_as_codes<e4m3, std::span<const std::byte>> &&
              seen_as_codes<e8m0, std::vector<std::uint8_t>&>);
static_assert(!seen_as_codes<e4m3, std::span<const char>> && !seen_as_codes<e4m3, std::vector<float>&>);
static_assert(!seen_as_codes<float, std::span<const std::byte>>);
static_assert(!seen_as_codes<e4m3, std::vector<std::byte>>);  // the bytes of a temporary would be gone

}  // namespace

TEST_CASE("as_codes shows every byte as the code with those bits, in place") {
  std::vector<std::byte> bytes(256);
  for (std::size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::byte>(i);
  const auto codes = as_codes<e4m3>(std::span<const std::byte>(bytes));
  static_assert(std::is_same_v<decltype(codes), const std::span<const e4m3>>);
  REQUIRE(codes.size() == 256);
  CHECK(static_cast<const void*>(codes.data()) == bytes.data());
  bool same = true;
  for (std::size_t i = 0; i < 256; ++i) same = same && codes[i].bits() == i;
  CHECK(same);
  CHECK(as_codes<e5m2>(std::span<const std::byte>()).empty());
}

TEST_CASE("as_codes of writable bytes writes them") {
  std::array<std::uint8_t, 3> bytes{};
  const auto codes = as_codes<e5m2>(bytes);
  static_assert(std::is_same_v<decltype(codes), const std::span<e5m2>>);
  codes[1] = e5m2::from_bits(0x3c);
  CHECK(bytes[1] == 0x3c);
  const auto scales = as_codes<e8m0>(bytes);
  CHECK(float(scales[1]) == 0x1p-67f);
}
