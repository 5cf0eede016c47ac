// SPDX-License-Identifier: Apache-2.0
// The reference GEMM against sums worked out on paper and in double.
#include <ofp8/reference/gemm.hpp>
#include <ofp8/scale/scaled_matrix.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

template <class E>
void fill(matrix<E>& m, std::initializer_list<float> values) {
  auto v = values.begin();
  for (std::ptrdiff_t r = 0; r < m.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < m.cols(); ++c) m(r, c) = convert<E>(*v++);
}

template <class G>
scaled_matrix<e4m3, G> scaled(std::ptrdiff_t rows, std::ptrdiff_t cols, std::initializer_list<float> codes,
                              std::initializer_list<float> scales) {
  matrix<e4m3> c(rows, cols);
  matrix<float> s(G::scale_rows(rows), G::scale_cols(cols));
  fill(c, codes);
  auto v = scales.begin();
  for (std::ptrdiff_t i = 0; i < s.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < s.cols(); ++j) s(i, j) = *v++;
  return {c, s};
}

bool same_bits(float a, float b) { return detail::bits_of(a) == detail::bits_of(b); }

}  // namespace

TEST_CASE("a scale constant along K multiplies the whole sum once", "[reference][gemm]") {
  // 1*4 + 2*5 + 3*6 = 32; alpha = 0.5 * 0.25 = 0.125; 32 * 0.125 = 4.
  const auto a = scaled<per_token>(1, 3, {1, 2, 3}, {0.5f});
  const auto b = scaled<per_channel>(1, 3, {4, 5, 6}, {0.25f});
  matrix<float> d(1, 1);
  reference::gemm_nt(a, b, d);
  CHECK(d(0, 0) == 4.0f);
}

TEST_CASE("K is cut at every boundary of either operand's grid", "[reference][gemm]") {
  // K = 5, A cut at 2 and 4, B at 3: segments [0,2) [2,3) [3,4) [4,5) of ones.
  // 2 * 1*16 + 1 * 2*16 + 1 * 2*32 + 1 * 4*32 = 32 + 32 + 64 + 128 = 256.
  const auto a = scaled<per_group<2>>(1, 5, {1, 1, 1, 1, 1}, {1, 2, 4});
  const auto b = scaled<block_wise<1, 3>>(1, 5, {1, 1, 1, 1, 1}, {16, 32});
  matrix<float> d(1, 1);
  reference::gemm_nt(a, b, d);
  CHECK(d(0, 0) == 256.0f);
}

TEST_CASE("the sum runs in FP32 in increasing k", "[reference][gemm]") {
  // 448 * 448 = 200704 is 49 * 2^12, so its unit in the last place is 2^-6. Then 2^-9 * 2^-9 = 2^-18 is lost when it
  // comes second, and kept when it comes first and the large product is cancelled in between.
  const float big = 448.0f, tiny = 0x1p-9f;
  const auto last = scaled<per_token>(1, 3, {big, tiny, -big}, {1});
  const auto first = scaled<per_token>(1, 3, {big, -big, tiny}, {1});
  const auto b_last = scaled<per_channel>(1, 3, {big, tiny, big}, {1});
  const auto b_first = scaled<per_channel>(1, 3, {big, big, tiny}, {1});
  matrix<float> d(1, 1);
  reference::gemm_nt(last, b_last, d);
  CHECK(d(0, 0) == 0.0f);
  reference::gemm_nt(first, b_first, d);
  CHECK(d(0, 0) == 0x1p-18f);
}

TEST_CASE("bias and addend are added to each other first, then by one fma", "[reference][gemm]") {
  // acc = 1, alpha = 2^-24: fma(1, 2^-24, 1) = 1 (a tie, to even); with t = 1 + 2^-23 the tie goes up to 1 + 2^-22.
  const auto a = scaled<per_token>(1, 1, {1}, {0x1p-12f});
  const auto b = scaled<per_channel>(1, 1, {1}, {0x1p-12f});
  matrix<float> d(1, 1), c(1, 1);
  const std::vector<float> bias{0x1p-23f};
  c(0, 0) = 1.0f;
  reference::gemm_nt(a, b, d, {.addend = c.view()});
  CHECK(d(0, 0) == 1.0f);
  reference::gemm_nt(a, b, d, {.bias = bias, .addend = c.view()});
  CHECK(d(0, 0) == 1.0f + 0x1p-22f);
}

TEST_CASE("K = 0 reads no scale and gives the addend, or +0", "[reference][gemm]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto a = scaled<per_token>(1, 0, {}, {nan});
  const auto b = scaled<per_channel>(1, 0, {}, {nan});
  matrix<float> d(1, 1), c(1, 1);
  d(0, 0) = 7.0f;
  reference::gemm_nt(a, b, d);
  CHECK(same_bits(d(0, 0), 0.0f));
  c(0, 0) = -3.0f;
  reference::gemm_nt(a, b, d, {.addend = c.view()});
  CHECK(d(0, 0) == -3.0f);
}

TEST_CASE("a negative sum of zero keeps the sign that the fma from +0 gives it", "[reference][gemm]") {
  // Constant along K: acc = +0 (0 * 1 from +0), alpha = -1: acc * alpha = -0. Varying: fma(+0, -1, +0) = +0.
  matrix<float> d(1, 1);
  reference::gemm_nt(scaled<per_token>(1, 1, {0}, {-1.0f}), scaled<per_channel>(1, 1, {1}, {1}), d);
  CHECK(same_bits(d(0, 0), -0.0f));
  reference::gemm_nt(scaled<per_group<1>>(1, 1, {0}, {-1.0f}), scaled<per_channel>(1, 1, {1}, {1}), d);
  CHECK(same_bits(d(0, 0), 0.0f));
}

TEST_CASE("a NaN code gives the canonical NaN of the output type", "[reference][gemm]") {
  auto a = scaled<per_token>(1, 1, {1}, {1});
  a.codes()(0, 0) = e4m3::from_bits(0xff);
  const auto b = scaled<per_channel>(1, 1, {1}, {1});
  matrix<float> d(1, 1);
  matrix<bf16> h(1, 1);
  matrix<fp16> f(1, 1);
  matrix<e4m3> codes(1, 1);
  matrix<float> so(1, 1);
  so(0, 0) = 1.0f;
  reference::gemm_nt(a, b, d);
  reference::gemm_nt(a, b, h);
  reference::gemm_nt(a, b, f);
  reference::gemm_nt(a, b, scaled_view<e4m3, per_tensor>{codes.view(), so.view()});
  CHECK(detail::bits_of(d(0, 0)) == 0x7fc00000u);
  CHECK(h(0, 0).bits() == 0x7fc0);
  CHECK(f(0, 0).bits() == 0x7e00);
  CHECK(codes(0, 0).bits() == 0x7f);
}

TEST_CASE("an FP8 output is divided by its own scale and rounded once", "[reference][gemm]") {
  // 3 * 5 = 15; 15 / 4 = 3.75 is an E4M3 number; 15 / 0.01 = 1500 saturates to 448.
  const auto a = scaled<per_token>(1, 1, {3}, {1});
  const auto b = scaled<per_channel>(1, 1, {5}, {1});
  matrix<e4m3> codes(1, 1);
  matrix<float> so(1, 1);
  so(0, 0) = 4.0f;
  reference::gemm_nt(a, b, scaled_view<e4m3, per_tensor>{codes.view(), so.view()});
  CHECK(float(codes(0, 0)) == 3.75f);
  so(0, 0) = 0.01f;
  reference::gemm_nt(a, b, scaled_view<e4m3, per_tensor>{codes.view(), so.view()});
  CHECK(float(codes(0, 0)) == 448.0f);
}

TEST_CASE("a float activation is multiplied and added in one rounding", "[reference][gemm]") {
  // a = 1 + 2^-23, b = 1.125: the product 1.125 + 1.125 * 2^-23 is not a float. fma from -1.125 keeps it exactly.
  matrix<float> a(1, 2), d(1, 1);
  a(0, 0) = -1.0f;
  a(0, 1) = 1.0f + 0x1p-23f;
  const auto b = scaled<per_channel>(1, 2, {1.125f, 1.125f}, {1});
  reference::gemm_nt(a, b, d);
  CHECK(d(0, 0) == 1.125f * 0x1p-23f);
}

TEST_CASE("shapes that do not fit are refused with all three", "[reference][gemm]") {
  const auto a = scaled<per_token>(1, 2, {1, 1}, {1});
  const auto b = scaled<per_channel>(1, 1, {1}, {1});
  matrix<float> d(1, 1);
  REQUIRE_THROWS_WITH(reference::gemm_nt(a, b, d), "reference::gemm_nt: A is 1x2, B is 1x1, D is 1x1");
}
