// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const shape_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

using writable = scaled_view<e4m3, per_group<128>>;
using read_only = scaled_view<const e4m3, per_group<128>>;
using owning = scaled_matrix<e4m3, per_group<128>>;

static_assert(std::is_convertible_v<writable, read_only> && !std::is_convertible_v<read_only, writable>);
static_assert(!std::is_convertible_v<writable, scaled_view<e4m3, per_group<64>>>);
static_assert(!std::is_convertible_v<writable, scaled_view<e4m3, mx<128>>>);
static_assert(std::is_convertible_v<owning&, writable> && std::is_convertible_v<const owning&, read_only>);
static_assert(!std::is_convertible_v<const owning&, writable>);
static_assert(!std::is_convertible_v<owning, read_only> &&
              !std::is_convertible_v<owning, writable>);  // dangling
static_assert(std::is_nothrow_move_constructible_v<owning>);

// A number is no grid of scales, scales are no codes, and scales of another type are other scales.
static_assert(!std::is_constructible_v<scaled_view<e4m3, per_tensor>, matrix_view<e4m3>, float>);
static_assert(!std::is_constructible_v<read_only, matrix_view<float>, matrix_view<e4m3>>);
static_assert(!std::is_constructible_v<scaled_view<e4m3, mx<32>>, matrix_view<e4m3>, matrix_view<float>>);
static_assert(!std::is_constructible_v<scaled_view<e4m3, mx<32>>, matrix_view<e4m3>, matrix_view<e4m3>>);
static_assert(!std::is_constructible_v<writable, matrix_view<const e4m3>, matrix_view<float>>);
static_assert(!std::is_constructible_v<writable, matrix_view<e4m3>, matrix_view<const float>>);
static_assert(std::is_constructible_v<read_only, matrix_view<e4m3>, matrix_view<float>>);

static_assert(scaled_operand<writable> && scaled_operand<const owning&> && scaled_operand<owning>);
static_assert(!scaled_operand<matrix<e4m3>> && !scaled_operand<matrix_view<float>>);
static_assert(std::is_same_v<code_of<read_only>, e4m3> &&
              std::is_same_v<granularity_of<const owning&>, per_group<128>>);
static_assert(std::is_same_v<scaled_view_of<owning>, writable> &&
              std::is_same_v<scaled_view_of<const owning>, read_only>);

}  // namespace

TEST_CASE("a scale grid is contiguous by default and counts by two strides") {
  std::array<float, 6> data{0, 1, 2, 3, 4, 5};
  const scale_grid<float> rows(data.data(), 2, 3);
  CHECK(rows(1, 2) == 5.0f);
  CHECK(rows.row_stride() == 3);
  CHECK(rows.col_stride() == 1);
  const scale_grid<const float> m_major(data.data(), 2, 3, 1, 2);  // column after column
  CHECK(m_major(1, 0) == 1.0f);
  CHECK(m_major(0, 2) == 4.0f);
  const scale_grid<const float> seen = matrix_view<float>(data.data(), 2, 2, 3);
  CHECK(seen(1, 1) == 4.0f);
  const scale_grid<const float> as_const = rows;
  CHECK(as_const(1, 1) == 4.0f);
}

TEST_CASE("a scale grid with negative sizes or strides is refused, and one written through a stride of 0") {
  float x = 1.0f;
  CHECK(message_of([&] { scale_grid<float>(&x, -1, 2); }) ==
        "scale_grid: -1x2 with strides (2, 1): a size is negative");
  CHECK(message_of([&] { scale_grid<const float>(&x, 2, 2, -2, 1); }) ==
        "scale_grid: 2x2 with strides (-2, 1): a stride is negative");
  CHECK(message_of([&] { scale_grid<float>(&x, 4, 1, 0, 1); }) ==
        "scale_grid: 4x1 with strides (0, 1): a grid that is written to needs strides above 0");
  const scale_grid<const float> broadcast(&x, 4, 1, 0, 1);  // one scale read for four rows
  CHECK(broadcast(3, 0) == 1.0f);
}

TEST_CASE("a scaled view needs the grid of its granularity and names both shapes otherwise") {
  matrix<e4m3> codes(4, 300);
  matrix<float> scales(4, 3);
  const writable v{codes.view(), scales.view()};
  CHECK(v.rows() == 4);
  CHECK(v.cols() == 300);
  CHECK(v.codes().data() == codes.data());
  CHECK(v.scales().data() == scales.data());
  CHECK(message_of([&] {
          scaled_view<e4m3, per_tensor>{codes.view(), scales.view()};
        }) == "scaled_view: codes are 4x300, scales are 4x3: this granularity needs 1x1 scales");
  CHECK(message_of([&] {
          scaled_view<const e4m3, per_channel>{codes.view(), scales.view()};
        }) == "scaled_view: codes are 4x300, scales are 4x3: this granularity needs 4x1 scales");
  CHECK(message_of([&] {
          scaled_view<e4m3, block_wise<2, 100>>{codes.view(), scales.view()};
        }) == "scaled_view: codes are 4x300, scales are 4x3: this granularity needs 2x3 scales");
  matrix<e4m3> none(0, 0);
  matrix<float> one(1, 1);
  CHECK(scaled_view<e4m3, per_tensor>{none.view(), one.view()}.rows() == 0);
}

TEST_CASE("every element finds its scale in a ragged grid, whatever the strides") {
  matrix<e4m3> codes(5, 7);
  matrix<float> scales(3, 3);  // blocks of 2 x 3
  for (std::ptrdiff_t i = 0; i < 9; ++i) scales.data()[i] = float(i);
  const scaled_view<const e4m3, block_wise<2, 3>> row_major{codes.view(), scales.view()};
  const scaled_view<const e4m3, block_wise<2, 3>> m_major{codes.view(), {scales.data(), 3, 3, 1, 3}};
  for (std::ptrdiff_t r = 0; r < 5; ++r) {
    for (std::ptrdiff_t c = 0; c < 7; ++c) {
      CHECK(row_major.scale_at(r, c) == float(r / 2 * 3 + c / 3));
      CHECK(m_major.scale_at(r, c) == float(c / 3 * 3 + r / 2));
    }
  }
}

TEST_CASE("scales of every type widen exactly") {
  scaled_matrix<e5m2, mx<4>> power(2, 6);
  power.scales()(1, 1) = e8m0::from_bits(0x7d);
  CHECK(power.scale_at(1, 5) == 0.25f);
  CHECK(power.scale_at(0, 0) == 0x1p-127f);  // zero bytes
  scaled_matrix<e4m3, scale_block<128, 128, bf16>> brain(1, 1);
  brain.scales()(0, 0) = bf16::from_bits(0x3f81);
  CHECK(brain.scale_at(0, 0) == 1.0078125f);
}

TEST_CASE("a scaled matrix owns zeroed codes and scales of the right shapes, and copies deeply") {
  owning a(3, 200);
  CHECK(a.rows() == 3);
  CHECK(a.scales().rows() == 3);
  CHECK(a.scales().cols() == 2);
  CHECK(a.codes()(2, 199).bits() == 0);
  CHECK(a.scale_at(2, 199) == 0.0f);
  a.codes()(1, 1) = e4m3::from_bits(0x38);
  a.scales()(1, 0) = 2.0f;
  const owning b = a;
  a.scales()(1, 0) = 3.0f;
  CHECK(b.scale_at(1, 1) == 2.0f);
  CHECK(b.codes()(1, 1).bits() == 0x38);
  static_assert(std::is_same_v<decltype(b.codes()), matrix_view<const e4m3>>);
  static_assert(std::is_same_v<decltype(b.scales()), scale_grid<const float>>);

  const auto* place = a.codes().data();
  owning c = std::move(a);
  CHECK(c.codes().data() == place);
  a = b;  // NOLINT: a moved-from object can be assigned to
  CHECK(a.scale_at(1, 1) == 2.0f);
  a = std::move(c);
  CHECK(a.codes().data() == place);
  CHECK(owning(0, 0).rows() == 0);

  const read_only v = b;
  CHECK(v.scale_at(1, 1) == 2.0f);
  const writable w = a;
  w.codes()(0, 0) = e4m3::from_bits(1);
  CHECK(a.codes()(0, 0).bits() == 1);
}

TEST_CASE("a scaled matrix made from existing matrices checks that they fit") {
  matrix<float> scales(2, 1);
  scales(1, 0) = 5.0f;
  const scaled_matrix<e4m3, per_channel> whole_rows(matrix<e4m3>(2, 9), scales);
  CHECK(whole_rows.scale_at(1, 8) == 5.0f);
  CHECK(message_of([&] { scaled_matrix<e4m3, per_channel>(matrix<e4m3>(3, 9), scales); }) ==
        "scaled_view: codes are 3x9, scales are 2x1: this granularity needs 3x1 scales");
}

TEST_CASE("counts add up") {
  quantize_counts a{.saturated = 1, .flushed = 2, .nan = 3};
  a += {.saturated = 10, .flushed = 20, .nan = 30};
  CHECK(a == quantize_counts{.saturated = 11, .flushed = 22, .nan = 33});
  CHECK_FALSE(a == quantize_counts{.saturated = 11, .flushed = 22, .nan = 34});
}
