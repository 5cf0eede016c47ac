// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>

#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/slice.hpp>

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

/// Every code and scale says where it is.
template <granularity G>
scaled_matrix<e4m3, G> numbered(std::ptrdiff_t m, std::ptrdiff_t k) {
  scaled_matrix<e4m3, G> x(m, k);
  for (std::ptrdiff_t r = 0; r < m; ++r)
    for (std::ptrdiff_t c = 0; c < k; ++c)
      x.codes()(r, c) = e4m3::from_bits(static_cast<unsigned>(r * k + c) & 0xff);
  for (std::ptrdiff_t i = 0; i < x.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < x.scales().cols(); ++j) x.scales()(i, j) = float(100 * i + j + 1);
  return x;
}

/// Whether every element of `part` has the code and scale of element (row + r, col + c) of `all`.
template <class E, class G>
bool is_part(const scaled_matrix<e4m3, G>& all, scaled_view<E, G> part, std::ptrdiff_t row,
             std::ptrdiff_t col) {
  for (std::ptrdiff_t r = 0; r < part.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < part.cols(); ++c)
      if (part.codes()(r, c).bits() != all.codes()(row + r, col + c).bits() ||
          part.scale_at(r, c) != all.scale_at(row + r, col + c))
        return false;
  return true;
}

/// Every slice that does not cut a block, of rows and of columns.
template <granularity G>
void check_all_slices(std::ptrdiff_t m, std::ptrdiff_t k) {
  const auto x = numbered<G>(m, k);
  const auto edge = [](std::ptrdiff_t at, std::ptrdiff_t extent, std::ptrdiff_t block) {
    return block == whole || at % block == 0 || at == extent;
  };
  int refused = 0, wrong = 0;
  const auto check = [&](bool fits, auto&& slice_of, std::ptrdiff_t row, std::ptrdiff_t col) {
    try {
      const auto part = slice_of();
      wrong += fits && is_part(x, part, row, col) ? 0 : 1;
    } catch (const shape_error&) {
      wrong += fits ? 1 : 0;
      ++refused;
    }
  };
  for (std::ptrdiff_t from = 0; from <= m; ++from)
    for (std::ptrdiff_t n = 0; n <= m - from; ++n)
      check(
          edge(from, m, G::rows) && edge(from + n, m, G::rows), [&] { return rows(x, from, n); }, from, 0);
  for (std::ptrdiff_t from = 0; from <= k; ++from)
    for (std::ptrdiff_t n = 0; n <= k - from; ++n)
      check(
          edge(from, k, G::cols) && edge(from + n, k, G::cols), [&] { return columns(x, from, n); }, 0, from);
  CHECK(wrong == 0);
  CHECK((refused > 0) == (G::rows > 1 || G::cols > 1));
}

}  // namespace

TEST_CASE("a slice on block edges has the codes and scales of its place; every other slice is refused") {
  check_all_slices<per_tensor>(5, 7);
  check_all_slices<per_channel>(5, 7);
  check_all_slices<per_group<3>>(4, 11);
  check_all_slices<block_wise<2, 4>>(7, 13);
  check_all_slices<block_wise<1, 1>>(3, 4);
  check_all_slices<scale_block<whole, 4>>(3, 9);
}

TEST_CASE("a slice of a slice is a slice, and of a strided grid too") {
  const auto x = numbered<block_wise<2, 4>>(8, 16);
  const auto part = columns(rows(x, 2, 6), 4, 8);
  CHECK(part.rows() == 6);
  CHECK(part.cols() == 8);
  CHECK(is_part(x, part, 2, 4));
  CHECK(is_part(x, columns(rows(part, 2, 2), 4, 4), 4, 8));

  matrix<float> m_major(4, 4);  // grid (i, j) at [j][i]
  for (std::ptrdiff_t i = 0; i < 4; ++i)
    for (std::ptrdiff_t j = 0; j < 4; ++j) m_major(j, i) = x.scales()(i, j);
  const scaled_view<const e4m3, block_wise<2, 4>> strided{x.codes(), {m_major.data(), 4, 4, 1, 4}};
  CHECK(is_part(x, columns(rows(strided, 4, 4), 8, 8), 4, 8));
}

TEST_CASE("a slice of a writable matrix writes it") {
  auto x = numbered<per_channel>(4, 4);
  const auto part = rows(x, 1, 2);
  part.codes()(0, 0) = e4m3::from_bits(0x7e);
  part.scales()(1, 0) = 9.0f;
  CHECK(x.codes()(1, 0).bits() == 0x7e);
  CHECK(x.scale_at(2, 3) == 9.0f);
}

TEST_CASE("an empty slice is fine anywhere a cut is") {
  const auto x = numbered<block_wise<2, 4>>(4, 8);
  CHECK(rows(x, 4, 0).rows() == 0);
  CHECK(columns(x, 8, 0).cols() == 0);
  CHECK(columns(x, 4, 0).scales().cols() == 0);
}

TEST_CASE("a refused slice says what it asked for and why not") {
  const auto x = numbered<per_group<128>>(4, 256);
  CHECK(message_of([&] { columns(x, 64, 64); }) ==
        "columns: first 64, count 64 of 256: the cut is inside a block of 128");
  CHECK(message_of([&] { columns(x, 128, 100); }) ==
        "columns: first 128, count 100 of 256: the cut is inside a block of 128");
  CHECK(message_of([&] { columns(x, 128, 129); }) == "columns: first 128, count 129 of 256: out of range");
  CHECK(message_of([&] { rows(x, -1, 2); }) == "rows: first -1, count 2 of 4: out of range");
  CHECK(message_of([&] { rows(x, 2, -1); }) == "rows: first 2, count -1 of 4: out of range");
  CHECK(message_of([&] { rows(x, 5, 0); }) == "rows: first 5, count 0 of 4: out of range");
  CHECK(message_of([&] { rows(x, 1, std::ptrdiff_t{0x7fffffffffffffff}); }) ==
        "rows: first 1, count 9223372036854775807 of 4: out of range");
}
