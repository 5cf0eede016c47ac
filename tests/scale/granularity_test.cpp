// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <limits>
#include <type_traits>

#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/scale/granularity.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

// The aliases are one geometry.
static_assert(std::is_same_v<per_token, per_channel>);
static_assert(std::is_same_v<per_group<128>, block_wise<1, 128>>);
static_assert(std::is_same_v<mx<32>, scale_block<1, 32, e8m0>> && std::is_same_v<mx<>, mx<32>>);
static_assert(!std::is_same_v<mx<32>, per_group<32>>);
static_assert(std::is_same_v<scale_block<128, 128, bf16>::scale_type, bf16>);
static_assert(std::is_same_v<per_tensor::scale_type, float>);

static_assert(granularity<per_tensor> && granularity<scale_block<3, whole, fp16>> && !granularity<float>);

// One scale a row means that a sum over K is scaled once.
static_assert(constant_along_k<per_tensor> && constant_along_k<per_token> &&
              constant_along_k<scale_block<4, whole>>);
static_assert(!constant_along_k<per_group<128>> && !constant_along_k<block_wise<128, 128>> &&
              !constant_along_k<mx<32>>);

}  // namespace

TEST_CASE("a grid has one scale for each block, the last ones ragged") {
  using g = block_wise<128, 64>;
  CHECK(g::scale_rows(1) == 1);
  CHECK(g::scale_rows(128) == 1);
  CHECK(g::scale_rows(129) == 2);
  CHECK(g::scale_rows(300) == 3);
  CHECK(g::scale_cols(64) == 1);
  CHECK(g::scale_cols(65) == 2);
  CHECK(g::scale_rows(0) == 0);
  CHECK(per_token::scale_rows(7) == 7);
  CHECK(per_token::scale_rows(0) == 0);
}

TEST_CASE("a whole extent is one block, even over 0") {
  CHECK(per_tensor::scale_rows(0) == 1);
  CHECK(per_tensor::scale_cols(0) == 1);
  CHECK(per_tensor::scale_rows(5000) == 1);
  CHECK(per_token::scale_cols(0) == 1);
  CHECK(per_group<128>::scale_cols(0) == 0);
}

TEST_CASE("the largest extent does not overflow when it is rounded up") {
  constexpr std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max();
  CHECK(per_group<2>::scale_cols(largest) == largest / 2 + 1);
  CHECK(block_wise<largest, 1>::scale_rows(largest) == 1);
}

TEST_CASE("an element finds its block by the global row and column") {
  using g = block_wise<128, 64>;
  CHECK(g::scale_row(127) == 0);
  CHECK(g::scale_row(128) == 1);
  CHECK(g::scale_col(199) == 3);
  CHECK(per_tensor::scale_row(1000) == 0);
  CHECK(per_token::scale_row(1000) == 1000);
  CHECK(per_token::scale_col(1000) == 0);
}
