// SPDX-License-Identifier: Apache-2.0
// The tensor-core models against mmaemu's, on every row of tests/data/mma_mmaemu.tsv for Ada and Hopper.
#include <ofp8/reference/exact.hpp>
#include <ofp8/reference/quantize.hpp>
#include <ofp8/reference/tensor_core.hpp>

#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/golden.hpp"

using namespace ofp8;
namespace tc = ofp8::reference::tensor_core;

namespace {

template <class E>
std::vector<E> codes(const std::string& cell) {
  std::vector<E> v;
  std::istringstream text(cell);
  for (std::string byte; text >> byte;) v.push_back(E::from_bits(static_cast<unsigned>(test::hex(byte))));
  return v;
}

std::vector<std::uint64_t> numbers(const std::string& cell) {
  std::vector<std::uint64_t> v;
  std::istringstream text(cell);
  for (std::string number; text >> number;) v.push_back(test::hex(number));
  return v;
}

float from_hex(const std::string& cell) {
  return detail::float_from_bits(static_cast<std::uint32_t>(test::hex(cell)));
}

// The number behind `key=` in the column of scales.
float scale_named(const std::string& scales, const std::string& key) {
  const auto at = scales.find(key + "=");
  REQUIRE(at != std::string::npos);
  return from_hex(scales.substr(at + key.size() + 1, 8));
}

struct row {
  const test::golden_table& table;
  std::size_t index;
  const std::string& operator[](const char* column) const { return table.cell(index, column); }
  std::string name() const {
    return (*this)["call"] + " " + (*this)["model"] + " " + (*this)["a_type"] + "x" + (*this)["b_type"] +
           " " + (*this)["kind"] + " k=" + (*this)["k"] + " " + (*this)["accum"];
  }
};

tc::accumulation mode_of(const row& r) {
  return r["accum"] == "slow" ? tc::accumulation::promoted : tc::accumulation::fast;
}

template <class Instruction, class EA, class EB>
std::uint32_t result(const row& r) {
  const auto a = codes<EA>(r["a"]);
  const auto b = codes<EB>(r["b"]);
  const auto n = static_cast<std::ptrdiff_t>(a.size());
  if (r["call"] == "dot")
    return detail::bits_of(tc::chain<Instruction>(a.data(), b.data(), n, from_hex(r["c"])));
  return detail::bits_of(tc::dot<Instruction>(a.data(), b.data(), n, mode_of(r)));
}

template <class Instruction>
std::uint32_t result_for_types(const row& r) {
  const bool a4 = r["a_type"] == "e4m3", b4 = r["b_type"] == "e4m3";
  if (a4) return b4 ? result<Instruction, e4m3, e4m3>(r) : result<Instruction, e4m3, e5m2>(r);
  return b4 ? result<Instruction, e5m2, e4m3>(r) : result<Instruction, e5m2, e5m2>(r);
}

bool is_ada_or_hopper(const row& r) { return r["model"] == "ada" || r["model"] == "hopper"; }

}  // namespace

TEST_CASE("Ada and Hopper give mmaemu's bits, with c, mixed formats and special values",
          "[reference][tensor_core]") {
  const test::golden_table table("mma_mmaemu.tsv");
  int dots = 0, sums = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const row r{table, i};
    if (!is_ada_or_hopper(r) || r["call"] == "scaled_mm") continue;
    (r["call"] == "dot" ? dots : sums) += 1;
    const std::uint32_t got =
        r["model"] == "ada" ? result_for_types<tc::ada>(r) : result_for_types<tc::hopper>(r);
    INFO(r.name());
    CHECK(got == test::hex(r["d"]));
  }
  CHECK(dots == 224);
  CHECK(sums == 168);
}

TEST_CASE("a scaled product of Ada and Hopper has mmaemu's epilogue", "[reference][tensor_core]") {
  const test::golden_table table("mma_mmaemu.tsv");
  int rows = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const row r{table, i};
    if (r["call"] != "scaled_mm") continue;
    ++rows;
    const auto a = codes<e4m3>(r["a"]), b = codes<e4m3>(r["b"]);
    const auto k = static_cast<std::ptrdiff_t>(a.size());
    const auto wanted = numbers(r["d"]);
    matrix<float> sa(1, 1), sb(1, 1), d(1, 16);
    sa(0, 0) = scale_named(r["scales"], "sa");
    sb(0, 0) = scale_named(r["scales"], "sb");
    const scaled_view<const e4m3, per_tensor> av{matrix_view<const e4m3>(a.data(), 1, k), sa.view()};
    const scaled_view<const e4m3, per_tensor> bv{matrix_view<const e4m3>(b.data(), 16, k), sb.view()};
    if (r["model"] == "ada")
      tc::gemm_nt<tc::ada>(av, bv, d, mode_of(r));
    else
      tc::gemm_nt<tc::hopper>(av, bv, d, mode_of(r));
    INFO(r.name() << " " << r["scales"]);
    for (std::ptrdiff_t n = 0; n < 16; ++n) {
      const std::uint64_t w = wanted[static_cast<std::size_t>(n)];
      const float v = d(0, n);
      if (r["scales"].find("out=float32") != std::string::npos) CHECK(detail::bits_of(v) == w);
      if (r["scales"].find("out=bfloat16") != std::string::npos) CHECK(convert<bf16>(v).bits() == w);
      if (r["scales"].find("out=float16") != std::string::npos) CHECK(convert<fp16>(v).bits() == w);
      if (r["scales"].find("out=float8") != std::string::npos)
        CHECK(convert<e4m3>(v * scale_named(r["scales"], "scale_result")).bits() == w);
    }
  }
  CHECK(rows == 16);
}

TEST_CASE("13 fraction bits below the largest product are kept, the rest is cut",
          "[reference][tensor_core]") {
  // 256 * 256 = 2^16. 2^3 is the last bit that stays; 2^2 is cut, of either sign, toward zero.
  std::vector<e4m3> a(32, e4m3::from_bits(0)), b = a;
  a[0] = b[0] = convert<e4m3>(256.0f);
  a[1] = convert<e4m3>(8.0f);
  b[1] = convert<e4m3>(1.0f);
  CHECK(tc::hopper_wgmma(a.data(), b.data(), 0.0f) == 65536.0f + 8.0f);
  a[1] = convert<e4m3>(7.0f);
  CHECK(tc::hopper_wgmma(a.data(), b.data(), 0.0f) == 65536.0f);
  a[1] = convert<e4m3>(-7.0f);
  CHECK(tc::hopper_wgmma(a.data(), b.data(), 0.0f) == 65536.0f);
  CHECK(tc::hopper_wgmma(a.data(), b.data(), 65536.0f) == 131072.0f);
}

TEST_CASE("Ada adds k 0 to 15 with c first, Hopper all 32 at once", "[reference][tensor_core]") {
  // 2^16 at k = 0, its negative at k = 31, and 4 at k = 1: Ada loses the 4 in its first group, Hopper in its only one.
  // With the large pair at k = 16 and 31 Ada's first group keeps it and its second loses it; with both in the first group
  // and the small one in the second, only Ada keeps it.
  std::vector<e4m3> a(32, e4m3::from_bits(0)), b = a;
  a[0] = b[0] = a[1] = convert<e4m3>(256.0f);
  b[1] = convert<e4m3>(-256.0f);
  a[20] = b[20] = convert<e4m3>(2.0f);
  CHECK(tc::ada_mma(a.data(), b.data(), 0.0f) == 4.0f);
  CHECK(tc::hopper_wgmma(a.data(), b.data(), 0.0f) == 0.0f);
}

TEST_CASE("the low 10 bits of an Ada or Hopper result are zero", "[reference][tensor_core]") {
  std::mt19937 bits(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<e4m3> a(32), b(32);
    for (int k = 0; k < 32; ++k) {
      a[static_cast<std::size_t>(k)] = e4m3::from_bits(static_cast<unsigned>(bits() % 0x7f));
      b[static_cast<std::size_t>(k)] =
          e4m3::from_bits(static_cast<unsigned>((bits() % 0x7f) | (bits() & 0x80)));
    }
    CHECK((detail::bits_of(tc::hopper_wgmma(a.data(), b.data(), 0.0f)) & 0x3ff) == 0);
    CHECK((detail::bits_of(tc::ada_mma(a.data(), b.data(), 0.0f)) & 0x3ff) == 0);
  }
}

TEST_CASE(
    "fast accumulation of same-sign data is low by several percent, promotion by less than a thousandth",
    "[reference][tensor_core]") {
  std::mt19937 bits(11);
  const std::ptrdiff_t k = 4096;
  matrix<float> x(8, k), w(8, k);
  for (auto* m : {&x, &w})
    for (std::ptrdiff_t r = 0; r < 8; ++r)
      for (std::ptrdiff_t c = 0; c < k; ++c) (*m)(r, c) = static_cast<float>(bits() % 1000 + 1) / 1000.0f;
  const auto aq = reference::quantize<e4m3, per_tensor>(x);
  const auto bq = reference::quantize<e4m3, per_tensor>(w);
  matrix<float> fast(8, 8), promoted(8, 8);
  matrix<double> exact(8, 8);
  tc::gemm_nt<tc::hopper>(aq, bq, fast, tc::accumulation::fast);
  tc::gemm_nt<tc::hopper>(aq, bq, promoted, tc::accumulation::promoted);
  reference::gemm_nt_exact(aq, bq, exact);
  double fast_bias = 0, promoted_bias = 0;
  for (std::ptrdiff_t r = 0; r < 8; ++r) {
    for (std::ptrdiff_t c = 0; c < 8; ++c) {
      fast_bias += double(fast(r, c)) / exact(r, c) - 1;
      promoted_bias += double(promoted(r, c)) / exact(r, c) - 1;
    }
  }
  // Truncation loses on average half a unit of 2^-13 of the running sum per instruction: 128 instructions lose between
  // 0 and 128 * 2^-13 of it, 4 instructions at most 4 * 2^-13 (and the groups' own cuts of up to 32 terms more).
  CHECK(fast_bias / 64 < -0.03);
  CHECK(fast_bias / 64 > -0.15);
  CHECK(promoted_bias / 64 < 0);
  CHECK(promoted_bias / 64 > -0.002);
}

TEST_CASE("NaN, Inf * 0 and opposite infinities give the tensor core's NaN", "[reference][tensor_core]") {
  std::vector<e5m2> a(32, convert<e5m2>(1.0f)), b = a;
  a[3] = e5m2::from_bits(0x7c);
  CHECK(detail::bits_of(tc::hopper_wgmma(a.data(), b.data(), 0.0f)) == 0x7f800000u);
  b[3] = e5m2::from_bits(0x00);
  CHECK(detail::bits_of(tc::hopper_wgmma(a.data(), b.data(), 0.0f)) == tc::nan_bits);
  b[3] = convert<e5m2>(-1.0f);
  CHECK(detail::bits_of(tc::ada_mma(a.data(), b.data(), 0.0f)) == 0xff800000u);
  a[20] = e5m2::from_bits(0x7c);
  CHECK(detail::bits_of(tc::ada_mma(a.data(), b.data(), 0.0f)) == tc::nan_bits);
}
