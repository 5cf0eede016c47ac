// SPDX-License-Identifier: Apache-2.0
// Groups and batches against gemm_nt's reference, one problem at a time, bit by bit.
#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>
#include <ofp8/ops/gemm_grouped.hpp>
#include <ofp8/reference/gemm.hpp>

#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

matrix<float> noise(std::ptrdiff_t rows, std::ptrdiff_t cols, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  matrix<float> m(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < cols; ++c) m(r, c) = normal(random);
  return m;
}

template <class T>
bool same_bits(const matrix<T>& a, const matrix<T>& b) {
  if (a.rows() * a.cols() == 0) return true;
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(T)) == 0;
}

using activations = scaled_view<const e4m3, per_group<64>>;
using weights = packed_view<e4m3, block_wise<128, 128>>;
using group = gemm_group<activations, weights, matrix_view<bf16>>;

// Experts with the given numbers of tokens, and what their D must be.
struct experts {
  std::deque<scaled_matrix<e4m3, per_group<64>>> a;
  std::deque<packed_weight<e4m3, block_wise<128, 128>>> b;
  std::deque<matrix<bf16>> d, wanted;
  std::deque<float> amax, wanted_amax;
  std::vector<float> bias;
  std::vector<group> groups;

  experts(const std::vector<std::ptrdiff_t>& tokens, std::ptrdiff_t n, std::ptrdiff_t k)
      : bias(static_cast<std::size_t>(n), 0.25f) {
    std::uint32_t seed = 1;
    for (const std::ptrdiff_t m : tokens) {
      a.push_back(quantize<e4m3, per_group<64>>(noise(m, k, seed++)));
      const auto w = quantize<e4m3, block_wise<128, 128>>(noise(n, k, seed++));
      b.push_back(pack(w));
      d.emplace_back(m, n);
      wanted.emplace_back(m, n);
      amax.push_back(0.0f);
      wanted_amax.push_back(0.0f);
      reference::gemm_nt(a.back(), w, wanted.back(), {.bias = bias, .amax = &wanted_amax.back()});
      groups.push_back(
          {a.back().view(), b.back().view(), d.back().view(), {.bias = bias, .amax = &amax.back()}});
    }
  }

  void check() const {
    for (std::size_t i = 0; i < d.size(); ++i) {
      CHECK(same_bits(d[i], wanted[i]));
      CHECK(amax[i] == wanted_amax[i]);
    }
  }
};

}  // namespace

TEST_CASE("every group has the bits of its own product, on every backend, with any number of threads",
          "[gemm][grouped]") {
  for (const isa i : available_isas()) {
    for (const int threads : {1, 2, 5}) {
      thread_pool pool(threads);
      experts e({3, 0, 70, 1, 0, 17, 130, 1, 2, 5, 1, 1, 64}, 77, 200);
      gemm_nt_grouped(e.groups, {.executor = pool, .isa = i});
      e.check();
    }
  }
}

TEST_CASE("groups that are all empty, no groups, and K = 0 are fine", "[gemm][grouped]") {
  experts none({}, 5, 7), empty({0, 0}, 5, 7), no_k({2, 3}, 5, 0);
  gemm_nt_grouped(none.groups);
  gemm_nt_grouped(empty.groups);
  gemm_nt_grouped(no_k.groups);
  no_k.check();
}

TEST_CASE("groups that do not share N and K are refused before anything is written", "[gemm][grouped]") {
  experts e({2, 3}, 5, 7), other({2}, 6, 7);
  e.groups.push_back(other.groups[0]);
  REQUIRE_THROWS_WITH(gemm_nt_grouped(e.groups),
                      "gemm_nt_grouped: B of group 2 is 6x7, of group 0 it is 5x7: groups share N and K");
  CHECK(float(e.d[0](0, 0)) == 0.0f);
}

TEST_CASE("the caller's scratch is enough, and less is refused", "[gemm][grouped]") {
  experts e({3, 0, 70, 1}, 77, 200);
  std::vector<std::byte> memory(gemm_grouped_scratch_bytes(e.groups));
  gemm_nt_grouped(e.groups, {.scratch = memory});
  e.check();
  memory.resize(memory.size() / 2);
  CHECK_THROWS_AS(gemm_nt_grouped(e.groups, {.scratch = memory}), argument_error);
}

TEST_CASE("a batch at constant strides has the bits of its products", "[gemm][batched]") {
  const std::ptrdiff_t batch = 5, m = 9, n = 33, k = 70;
  const matrix<float> x = noise(batch * m, k, 1), y = noise(n, k, 2);
  const auto aq = quantize<e4m3, per_token>(x);
  const auto bq = quantize<e5m2, per_channel>(y);
  matrix<float> d(batch * m, n), wanted(batch * m, n);
  reference::gemm_nt(aq, bq, wanted);
  for (const isa i : available_isas()) {
    gemm_nt_batched(batch, batched(rows(aq, 0, m), m * k, m), batched(bq.view(), 0, 0),
                    batched(matrix_view<float>(d.data(), m, n), m * n), {.isa = i});
    CHECK(same_bits(d, wanted));
  }
  gemm_nt_batched(0, batched(rows(aq, 0, m), m * k, m), batched(bq.view(), 0, 0),
                  batched(matrix_view<float>(d.data(), m, n), m * n));
  CHECK_THROWS_AS(
      gemm_nt_batched(-1, batched(aq.view(), 0, 0), batched(bq.view(), 0, 0), batched(d.view(), 0)),
      shape_error);
}

TEST_CASE("amax is the largest finite magnitude of D before its scale, merged with what it held",
          "[gemm][amax]") {
  const auto a = quantize<e4m3, per_token>(noise(40, 65, 3));
  const auto b = quantize<e4m3, per_channel>(noise(50, 65, 4));
  matrix<float> d(40, 50);
  reference::gemm_nt(a, b, d);
  float largest = 0;
  for (std::ptrdiff_t r = 0; r < 40; ++r)
    for (std::ptrdiff_t c = 0; c < 50; ++c) largest = std::max(largest, std::abs(d(r, c)));
  matrix<e4m3> codes(40, 50);
  matrix<float> scale(1, 1);
  scale(0, 0) = 0.01f;
  for (const isa i : available_isas()) {
    float amax = 0;
    gemm_nt(a, b, scaled_view<e4m3, per_tensor>{codes.view(), scale.view()}, {.amax = &amax}, {.isa = i});
    CHECK(amax == largest);
    amax = 1e9f;
    gemm_nt(a, b, d, {.amax = &amax}, {.isa = i});
    CHECK(amax == 1e9f);
  }
  std::vector<float> bias(50, std::numeric_limits<float>::infinity());
  float amax = 0;
  gemm_nt(a, b, d, {.bias = bias, .amax = &amax});
  CHECK(amax == 0.0f);
}

TEST_CASE("amax may start from anything: a negative number or a NaN counts as 0", "[gemm][amax]") {
  const auto a = quantize<e4m3, per_token>(noise(3, 33, 5));
  const auto b = quantize<e4m3, per_channel>(noise(5, 33, 6));
  const auto zero = quantize<e4m3, per_token>(matrix<float>(3, 33));
  matrix<float> d(3, 5), r(3, 5);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float start : {-infinity, -1e9f, -1e-9f, std::numeric_limits<float>::quiet_NaN()}) {
    for (const auto* x : {&a, &zero}) {
      float wanted = start, amax = start, amax_of_group = start;
      reference::gemm_nt(*x, b, r, {.amax = &wanted});
      gemm_nt(*x, b, d, {.amax = &amax});
      std::vector<gemm_group<scaled_view<const e4m3, per_token>, scaled_view<const e4m3, per_channel>,
                             matrix_view<float>>>
          one{{x->view(), b.view(), d.view(), {.amax = &amax_of_group}}};
      gemm_nt_grouped(one);
      CHECK((x == &zero ? wanted == 0.0f : wanted > 0.0f));
      CHECK(amax == wanted);
      CHECK(amax_of_group == wanted);
    }
  }
}
