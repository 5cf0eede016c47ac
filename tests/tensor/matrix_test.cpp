// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/tensor/matrix.hpp>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

std::string message_of(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  try {
    matrix<float> m(rows, cols);
  } catch (const shape_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

constexpr std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max();

static_assert(std::is_nothrow_move_constructible_v<matrix<float>> &&
              std::is_nothrow_move_assignable_v<matrix<float>>);

}  // namespace

TEST_CASE("a matrix is zero, row-major without gaps, and aligned to 64 bytes") {
  for (std::ptrdiff_t cols : {1, 3, 64, 257}) {
    matrix<float> m(5, cols);
    CHECK(reinterpret_cast<std::uintptr_t>(m.data()) % 64 == 0);
    CHECK(m.rows() == 5);
    CHECK(m.cols() == cols);
    CHECK(m.leading_dimension() == cols);
    bool zero = true;
    for (std::ptrdiff_t i = 0; i < 5 * cols; ++i) zero = zero && m.data()[i] == 0.0f;
    CHECK(zero);
    CHECK(&m(4, cols - 1) == m.data() + 5 * cols - 1);
    CHECK(m.row(2) == m.data() + 2 * cols);
  }
  matrix<e4m3> codes(3, 3);
  CHECK(codes(2, 2).bits() == 0);
}

TEST_CASE("memory that held something else before is zero again in a new matrix") {
  for (int i = 0; i < 8; ++i) {
    matrix<std::uint64_t> m(16, 16);
    bool zero = true;
    for (std::ptrdiff_t r = 0; r < 16; ++r)
      for (std::ptrdiff_t c = 0; c < 16; ++c) {
        zero = zero && m(r, c) == 0;
        m(r, c) = ~std::uint64_t{0};
      }
    CHECK(zero);
  }
}

TEST_CASE("copies are deep, and a moved-from matrix is 0 x 0") {
  matrix<int> a(2, 3);
  a(1, 2) = 7;
  matrix<int> b = a;
  b(1, 2) = 8;
  CHECK(a(1, 2) == 7);

  matrix<int> c(1, 1);
  c = b;  // of another shape
  CHECK(c.rows() == 2);
  CHECK(c(1, 2) == 8);
  const int* const place = c.data();
  c = a;  // of the same shape: in place
  CHECK(c.data() == place);
  CHECK(c(1, 2) == 7);
  const matrix<int>& self = c;
  c = self;
  CHECK(c(1, 2) == 7);

  const int* const moved = a.data();
  matrix<int> d = std::move(a);
  CHECK(d.data() == moved);
  CHECK(a.rows() == 0);  // NOLINT: the moved-from state is specified
  CHECK(a.cols() == 0);
  CHECK(a.data() == nullptr);
  b = std::move(d);
  CHECK(b.data() == moved);
  CHECK(d.rows() == 0);
  d = b;  // usable again
  CHECK(d(1, 2) == 7);
  matrix<int>& alias = d;
  d = std::move(alias);
  CHECK(d(1, 2) == 7);
}

TEST_CASE("an empty matrix keeps its shape and owns nothing") {
  matrix<float> rows(5, 0), cols(0, 7);
  CHECK(rows.rows() == 5);
  CHECK(cols.cols() == 7);
  CHECK(rows.data() == nullptr);
  matrix<float> copy = cols;
  CHECK(copy.cols() == 7);
  CHECK(matrix<float>().rows() == 0);
}

TEST_CASE("sizes that are negative or exceed 63 bits are refused") {
  CHECK(message_of(-1, 4) == "matrix: -1x4: a size is negative");
  CHECK(message_of(4, -1) == "matrix: 4x-1: a size is negative");
  CHECK(message_of(std::ptrdiff_t{1} << 32, std::ptrdiff_t{1} << 32) ==
        "matrix: 4294967296x4294967296 elements of 4 bytes: the size in bytes exceeds 63 bits");
  CHECK(message_of(largest, 1) ==
        "matrix: 9223372036854775807x1 elements of 4 bytes: the size in bytes exceeds 63 bits");
  CHECK(message_of(largest, 0) == "nothing was thrown");
}

TEST_CASE("the view of a matrix shows its elements, writable where it is") {
  matrix<float> m(2, 3);
  m.view()(1, 0) = 2.0f;
  const matrix<float>& read_only = m;
  static_assert(std::is_same_v<decltype(read_only.view()), matrix_view<const float>>);
  CHECK(read_only.view()(1, 0) == 2.0f);
  CHECK(as_view(m).data() == m.data());
  CHECK(as_view(read_only).leading_dimension() == 3);
}
