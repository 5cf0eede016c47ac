// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ofp8/core/float8.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

#include "mdspan_mock.hpp"
#include "tests/catch.hpp"

using namespace ofp8;
using ofp8::test::layout_left;
using ofp8::test::layout_right;
using ofp8::test::mdspan_mock;

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

// What is a matrix, at compile time.
static_assert(matrix_like<matrix_view<float>> && matrix_like<matrix<int>> &&
              matrix_like<const matrix<e4m3>&>);
static_assert(matrix_like<mdspan_mock<float, 2>> && matrix_like<mdspan_mock<const float, 2, std::size_t>>);
static_assert(!matrix_like<mdspan_mock<float, 1>> && !matrix_like<mdspan_mock<float, 3>>);
static_assert(!matrix_like<float*> && !matrix_like<std::array<float, 4>> && !matrix_like<float>);
// An accessor that computes what it returns (a scaled one) points at other numbers than it shows.
static_assert(!matrix_like<mdspan_mock<float, 2, int, float>>);

static_assert(std::is_same_v<element_of<matrix<float>&>, float>);
static_assert(std::is_same_v<element_of<const matrix<float>&>, const float>);
static_assert(std::is_same_v<element_of<matrix_view<const e4m3>>, const e4m3>);
static_assert(std::is_same_v<element_of<const mdspan_mock<float, 2>&>, float>);

static_assert(std::is_convertible_v<matrix_view<float>, matrix_view<const float>>);
static_assert(!std::is_convertible_v<matrix_view<const float>, matrix_view<float>>);
static_assert(!std::is_convertible_v<matrix_view<float>, matrix_view<const e4m3>>);
static_assert(std::is_trivially_copyable_v<matrix_view<float>>);

// An output outlives the call.
static_assert(output_matrix<matrix<float>&> && output_matrix<matrix_view<float>> &&
              output_matrix<matrix_view<float>&>);
static_assert(!output_matrix<matrix<float>> && !output_matrix<const matrix<float>&>);
static_assert(!output_matrix<matrix_view<const float>>);

// Views are usable in constant expressions.
constexpr std::array<int, 6> constants{0, 1, 2, 3, 4, 5};
static_assert(matrix_view<const int>(constants.data(), 2, 2, 3)(1, 1) == 4);

}  // namespace

TEST_CASE("a view counts rows by its leading dimension and columns by one") {
  std::array<int, 12> data{};
  for (int i = 0; i < 12; ++i) data[static_cast<std::size_t>(i)] = i;
  const matrix_view<int> v(data.data(), 3, 2, 4);
  CHECK(v.rows() == 3);
  CHECK(v.cols() == 2);
  CHECK(v.leading_dimension() == 4);
  CHECK(v(0, 0) == 0);
  CHECK(v(2, 1) == 9);
  CHECK(v.row(1) == data.data() + 4);
  CHECK(matrix_view<int>(data.data(), 3, 4).leading_dimension() == 4);
  v(1, 1) = 70;
  CHECK(data[5] == 70);
  const matrix_view<const int> read_only = v;
  CHECK(read_only(1, 1) == 70);
  CHECK(read_only.leading_dimension() == 4);
}

TEST_CASE("a view with a negative size or a leading dimension below its columns is refused") {
  int x = 0;
  CHECK(message_of([&] { matrix_view<int>(&x, -1, 4); }) == "matrix_view: -1x4: a size is negative");
  CHECK(message_of([&] { matrix_view<int>(&x, 2, -4); }) == "matrix_view: 2x-4: a size is negative");
  CHECK(message_of([&] { matrix_view<int>(&x, 2, 4, 3); }) ==
        "matrix_view: 2x4 has leading dimension 3: it is below 4 columns");
  CHECK(matrix_view<int>(nullptr, 0, 5).rows() == 0);
  CHECK(matrix_view<int>(nullptr, 5, 0).rows() == 5);
  CHECK(matrix_view<int>().cols() == 0);
}

TEST_CASE("offsets are 64-bit: a view of more than 2^31 elements finds each of them") {
  // Reserved addresses that nothing may touch: only the arithmetic is looked at.
  const std::ptrdiff_t rows = 70'000, cols = 65'536;  // 4.6e9 elements
  const auto bytes = static_cast<std::size_t>(rows * cols);
  void* const reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(reserved != MAP_FAILED);
  auto* const first = static_cast<std::uint8_t*>(reserved);
  const matrix_view<std::uint8_t> v(first, rows, cols);
  CHECK(&v(rows - 1, cols - 1) == first + (bytes - 1));
  CHECK(v.row(rows - 1) == first + (bytes - static_cast<std::size_t>(cols)));
  CHECK(&v(65'537, 3) == first + (std::ptrdiff_t{65'537} * cols + 3));

  const mdspan_mock<std::uint8_t, 2> span{first, {70'000, 65'536}, {65'536, 1}};  // with 32-bit strides
  CHECK(&as_view(span)(rows - 1, cols - 1) == first + (bytes - 1));
  munmap(reserved, bytes);
}

TEST_CASE("a row-major mdspan of any index type is seen in place") {
  std::array<float, 12> data{};
  const auto whole_rows = as_view(layout_right(data.data(), 3, 4));
  CHECK(whole_rows.data() == data.data());
  CHECK(whole_rows.rows() == 3);
  CHECK(whole_rows.cols() == 4);
  CHECK(whole_rows.leading_dimension() == 4);

  // A submdspan of two columns; unsigned 64-bit indices.
  const mdspan_mock<float, 2, std::size_t> part{data.data() + 1, {3, 2}, {4, 1}};
  const auto v = as_view(part);
  CHECK(v.leading_dimension() == 4);
  CHECK(&v(2, 1) == data.data() + 10);
}

TEST_CASE("strides on which no element depends may be anything") {
  std::array<float, 12> data{};
  CHECK(as_view(mdspan_mock<float, 2>{data.data(), {1, 5}, {0, 1}}).leading_dimension() == 5);
  CHECK(as_view(mdspan_mock<float, 2>{data.data(), {1, 5}, {-7, 1}}).leading_dimension() == 5);
  CHECK(as_view(mdspan_mock<float, 2>{data.data(), {4, 1}, {3, 99}}).leading_dimension() == 3);
  CHECK(as_view(layout_left(data.data(), 5, 1)).leading_dimension() == 1);  // a column
  CHECK(as_view(layout_left(data.data(), 1, 5)).cols() == 5);               // a row
  CHECK(as_view(mdspan_mock<float, 2>{nullptr, {0, 3}, {-1, -1}}).cols() == 3);
  CHECK(as_view(mdspan_mock<float, 2>{nullptr, {3, 0}, {1, 9}, false}).rows() == 3);
}

TEST_CASE("an mdspan that is not row-major is refused by its strides, never misread") {
  std::array<float, 12> data{};
  CHECK(message_of([&] { as_view(layout_left(data.data(), 3, 4)); }) ==
        "as_view: a 3x4 mdspan has strides (1, 3): row-major needs (at least 4, 1)");
  const auto refused = [&](int rows, int cols, int row_stride, int col_stride, bool strided = true) {
    return message_of([&] {
             as_view(mdspan_mock<float, 2>{data.data(), {rows, cols}, {row_stride, col_stride}, strided});
           }).rfind("as_view: ", 0) == 0;
  };
  CHECK(refused(3, 2, 4, 2));         // every other column
  CHECK(refused(3, 4, -4, 1));        // rows backwards
  CHECK(refused(3, 4, 4, -1));        // columns backwards
  CHECK(refused(3, 4, 0, 1));         // one row seen three times
  CHECK(refused(3, 4, 3, 1));         // overlapping rows
  CHECK(refused(3, 4, 4, 0));         // one column seen four times
  CHECK(refused(3, 1, 0, 1));         // one element seen three times
  CHECK(refused(3, 4, 4, 1, false));  // a layout without strides
  CHECK_FALSE(refused(3, 4, 4, 1));
}
