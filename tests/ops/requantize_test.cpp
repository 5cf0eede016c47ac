// SPDX-License-Identifier: Apache-2.0
// requantize, requant_max, to_fnuz and to_ocp: what is promised to be lossless is compared bit for bit, the rest
// with the reference.
#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>
#include <ofp8/ops/requantize.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/random_bits.hpp"

using namespace ofp8;
using ofp8::test::random_source;

namespace {

constexpr double infinite_db = std::numeric_limits<double>::infinity();

template <class T>
bool same(const matrix<T>& a, const matrix<T>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  const auto bytes = static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(T);
  return bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0;
}

template <class E, class G>
bool same(const scaled_matrix<E, G>& a, const scaled_matrix<E, G>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (std::ptrdiff_t r = 0; r < a.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < a.cols(); ++c)
      if (a.codes()(r, c).bits() != b.codes()(r, c).bits()) return false;
  for (std::ptrdiff_t i = 0; i < a.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < a.scales().cols(); ++j)
      if (detail::bits_of(float(a.scales()(i, j))) != detail::bits_of(float(b.scales()(i, j)))) return false;
  return true;
}

/// Codes by `code()`, scales by `scale()`.
template <class E, class G, class Code, class Scale>
scaled_matrix<E, G> operand(std::ptrdiff_t rows, std::ptrdiff_t cols, Code code, Scale scale) {
  scaled_matrix<E, G> q(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < cols; ++c) q.codes()(r, c) = E::from_bits(code());
  for (std::ptrdiff_t i = 0; i < q.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < q.scales().cols(); ++j)
      q.scales()(i, j) = detail::stored_scale<typename G::scale_type>(scale());
  return q;
}

/// Finite codes of any size, positive scales of any mantissa: no two have a power of two for a ratio.
template <class E, class G>
scaled_matrix<E, G> random_operand(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  random_source random(static_cast<std::uint64_t>(rows * 1000 + cols));
  return operand<E, G>(
      rows, cols,
      [&] {
        const E code = E::from_bits(random.below(256));
        return isfinite(code) ? code.bits() : 0u;
      },
      [&] { return detail::float_from_bits((random.bits32() & 0x03ff'ffff) | 0x3c00'0000); });
}

/// E4M3 codes from 2^-3 up to 56, and zeros: they move by three powers of two without a loss.
unsigned movable_code(random_source& random) {
  const unsigned magnitude = 0x20 + random.below(0x66 - 0x20 + 1);
  return (random.below(8) == 0 ? 0 : magnitude) | (random.below(2) << 7);
}

template <class E>
scaled_matrix<E, per_tensor> shard_of(std::initializer_list<unsigned> codes, float scale) {
  scaled_matrix<E, per_tensor> q(1, static_cast<std::ptrdiff_t>(codes.size()));
  std::ptrdiff_t c = 0;
  for (const unsigned code : codes) q.codes()(0, c++) = E::from_bits(code);
  q.scales()(0, 0) = scale;
  return q;
}

std::string message_of(auto f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

// ---- what is lossless ----

TEST_CASE("requantizing by a power of two is lossless where the codes have room", "[ops][requantize]") {
  random_source random(1);
  for (int k = -3; k <= 3; ++k) {
    for (int trial = 0; trial < 20; ++trial) {
      const float s = detail::float_from_bits((random.bits32() & 0x3fff'ffff) | 0x1000'0000);
      const auto q = operand<e4m3, per_tensor>(
          5, 70, [&] { return movable_code(random); }, [&] { return s; });
      requantize_report report;
      const auto moved =
          requantize<e4m3, per_group<32>>(q, static_scale(s * detail::power_of_two(k)), report);
      CHECK(same(dequantize(moved), dequantize(q)));
      CHECK(report.lossless_blocks == 15);
      CHECK(report.blocks == 15);
      CHECK(report.sqnr_db == infinite_db);
      CHECK(report.counts == quantize_counts{});
    }
  }
}

TEST_CASE("a finer granularity keeps every byte and repeats the scale", "[ops][requantize]") {
  random_source random(2);
  // Every code, NaN with either sign and -0 too; scales of any kind.
  const auto q = operand<e4m3, block_wise<4, 8>>(
      11, 21, [&] { return random.below(256); }, [&] { return detail::float_from_bits(random.bits32()); });
  const auto fine = requantize<e4m3, scale_block<2, 4>>(q);
  for (std::ptrdiff_t r = 0; r < 11; ++r) {
    for (std::ptrdiff_t c = 0; c < 21; ++c) {
      CHECK(fine.codes()(r, c).bits() == q.codes()(r, c).bits());
      CHECK(detail::bits_of(fine.scale_at(r, c)) == detail::bits_of(q.scale_at(r, c)));
    }
  }
}

TEST_CASE("channel scales with power-of-two ratios become blocks and channels again without a loss",
          "[ops][requantize]") {
  random_source random(3);
  const auto q = operand<e4m3, per_channel>(
      300, 260, [&] { return movable_code(random); },
      [&] { return 0.7f * detail::power_of_two(-static_cast<int>(random.below(4))); });
  requantize_report report;
  const auto blocks = requantize<e4m3, block_wise<128, 128>>(q, report);
  CHECK(report.lossless_blocks == 9);
  CHECK(same(dequantize(blocks), dequantize(q)));
  const auto channels = requantize<e4m3, per_channel>(blocks, report);
  CHECK(report.lossless_blocks == 300);
  CHECK(same(dequantize(channels), dequantize(q)));
}

TEST_CASE("a block with one code that has no exact place goes through the recipe", "[ops][requantize]") {
  // Scales 1 and 2^-3. 2^-6 (08) with scale 2^-3 is 2^-9, the smallest subnormal; the next code up (09) is not
  // a multiple of it.
  scaled_matrix<e4m3, per_channel> q(2, 2);
  q.scales()(0, 0) = 1.0f, q.scales()(1, 0) = 0.125f;
  q.codes()(0, 0) = e4m3::from_bits(0x38), q.codes()(1, 0) = e4m3::from_bits(0x08);
  requantize_report report;
  auto tensor = requantize<e4m3, per_tensor>(q, report);
  CHECK(report.lossless_blocks == 1);
  CHECK(tensor.scales()(0, 0) == 1.0f);
  CHECK(tensor.codes()(1, 0).bits() == 0x01);

  q.codes()(1, 0) = e4m3::from_bits(0x09);
  tensor = requantize<e4m3, per_tensor>(q, report);
  CHECK(report.lossless_blocks == 0);
  CHECK(same(tensor, reference::quantize<e4m3, per_tensor>(reference::dequantize(q))));
  CHECK(report.max_abs_error == max_abs_error(dequantize(q), dequantize(tensor)));
  CHECK(report.sqnr_db == sqnr_db(dequantize(q), dequantize(tensor)));
}

TEST_CASE("another format is lossless where it has the numbers", "[ops][requantize]") {
  const auto q = shard_of<e4m3>({0x38, 0xba, 0x00, 0x80, 0x7c, 0x01, 0x7f}, 3.0f);  // mantissas fit two bits
  requantize_report report;
  const auto e = requantize<e5m2, per_tensor>(q, report);
  CHECK(report.lossless_blocks == 1);
  CHECK(e.scales()(0, 0) == 3.0f);
  for (std::ptrdiff_t c = 0; c < 6; ++c) {
    CHECK(float(e.codes()(0, c)) == float(q.codes()(0, c)));
    CHECK(signbit(e.codes()(0, c)) == signbit(q.codes()(0, c)));
  }
  CHECK(isnan(e.codes()(0, 6)));

  (void)requantize<e5m2, per_tensor>(shard_of<e4m3>({0x39}, 3.0f), report);  // 1.125 has three
  CHECK(report.lossless_blocks == 0);
  (void)requantize<e4m3, per_tensor>(shard_of<e5m2>({0x7c, 0x3c}, 3.0f), report);  // no infinity in E4M3
  CHECK(report.lossless_blocks == 0);
}

// ---- what is not ----

TEMPLATE_TEST_CASE("any granularity to any other is a quantization of the dequantized numbers",
                   "[ops][requantize]", per_tensor, (block_wise<3, 5>), (scale_block<whole, 7>),
                   (scale_block<2, whole, bf16>), (scale_block<2, 64, e8m0>)) {
  const std::ptrdiff_t shapes[][2] = {{0, 0}, {0, 5}, {3, 0}, {2, 2}, {4, 600}, {33, 65}};
  for (const auto& shape : shapes) {
    const auto q = random_operand<e4m3, scale_block<1, 2>>(shape[0], shape[1]);
    const auto wanted = reference::quantize<e4m3, TestType>(reference::dequantize(q));
    const auto wanted5 = reference::quantize<e5m2, TestType>(reference::dequantize(q), recipes::deepseek_v3);
    for (isa i : available_isas()) {
      CHECK(same(requantize<e4m3, TestType>(q, {}, {.isa = i}), wanted));
      CHECK(same(requantize<e5m2, TestType>(q, recipes::deepseek_v3, {.isa = i}), wanted5));
    }
  }
}

TEST_CASE("1 to 8 threads requantize to the same bytes and the same report", "[ops][requantize]") {
  const auto q = random_operand<e4m3, per_channel>(700, 500);
  requantize_report wanted;
  const auto blocks = requantize<e4m3, block_wise<128, 128>>(q, wanted);
  CHECK(wanted.sqnr_db > 25);
  for (int threads = 1; threads <= 8; ++threads) {
    thread_pool pool(threads);
    requantize_report report;
    CHECK(same(requantize<e4m3, block_wise<128, 128>>(q, report, {}, {.executor = pool}), blocks));
    CHECK(report.sqnr_db == wanted.sqnr_db);
    CHECK(report.max_abs_error == wanted.max_abs_error);
    CHECK(report.counts == wanted.counts);
    CHECK(report.lossless_blocks == wanted.lossless_blocks);
  }
}

TEST_CASE("a NaN code stays a NaN and does not count for a scale", "[ops][requantize]") {
  auto q = random_operand<e4m3, per_channel>(2, 40);
  const float amax = static_cast<float>(max_abs_error(dequantize(q), matrix<float>(2, 40)));
  q.codes()(0, 3) = q.codes()(1, 5) = e4m3::from_bits(0xff);
  requantize_report report;
  const auto t = requantize<e4m3, per_tensor>(q, report);
  CHECK(isnan(t.codes()(0, 3)));
  CHECK(isnan(t.codes()(1, 5)));
  CHECK(report.counts.nan == 2);
  CHECK(std::isnan(report.sqnr_db));
  CHECK(t.scales()(0, 0) <= amax / 448.0f);
}

TEST_CASE("a recipe that asks for powers of two gets them, also from one scale", "[ops][requantize]") {
  const auto q = shard_of<e4m3>({0x7e, 0x39}, 0.3f);
  requantize_report report;
  const auto kept = requantize<e4m3, per_tensor>(q, report);
  CHECK(kept.scales()(0, 0) == 0.3f);
  const auto powers = requantize<e4m3, per_tensor>(q, report, {.power = power_rule::up});
  CHECK(powers.scales()(0, 0) == 0.5f);
  CHECK(report.lossless_blocks == 0);
  const auto power = shard_of<e4m3>({0x7e, 0x39}, 0.25f);
  CHECK(same(requantize<e4m3, per_tensor>(power, report, {.power = power_rule::up}), power));
}

TEST_CASE("[S14] a float scale on its way to e8m0 takes its codes along", "[ops][requantize][bugs]") {
  // 0.3 rounded up is 0.5: with the codes as they were, every number would grow by 1.67.
  const auto q = shard_of<e4m3>({0x7e, 0x38, 0xb1, 0x00}, 0.3f);
  using powers = scale_block<whole, whole, e8m0>;
  requantize_report report;
  const auto p = requantize<e4m3, powers>(q, report);
  CHECK(float(p.scales()(0, 0)) == 0.5f);
  const matrix<float> before = dequantize(q), after = dequantize(p);
  for (std::ptrdiff_t c = 0; c < 4; ++c)  // half a step of three mantissa bits is 1/16 of a number
    CHECK(std::fabs(after(0, c) - before(0, c)) <= std::fabs(before(0, c)) / 16);
  CHECK(report.max_abs_error == max_abs_error(before, after));
  // 134.4, 0.3 and -0.16875 over 0.5: 268.8 becomes 256 (f0 without sign: 78), 0.6 is 0.625, -0.3375 -0.34375.
  CHECK(p.codes()(0, 0).bits() == 0x78);
  CHECK(p.codes()(0, 1).bits() == 0x32);
  CHECK(p.codes()(0, 2).bits() == 0xab);

  // A scale that is a power of two already costs nothing.
  (void)requantize<e4m3, powers>(shard_of<e4m3>({0x7e, 0x39}, 0.25f), report);
  CHECK(report.lossless_blocks == 1);
}

TEST_CASE("a given scale that cannot hold the numbers saturates, and the report says how much",
          "[ops][requantize]") {
  requantize_report report;
  const auto q = shard_of<e4m3>({0x7e, 0x38, 0x01}, 1.0f);
  const auto t = requantize<e4m3, per_tensor>(q, static_scale(0.5f), report);
  CHECK(t.codes()(0, 0).bits() == 0x7e);  // 448 became 224
  CHECK(report.counts.saturated == 1);
  CHECK(report.max_abs_error == 224);
  (void)requantize<e4m3, per_tensor>(q, static_scale(4.0f), report);
  CHECK(report.counts.flushed == 1);  // 2^-9 is a quarter of the smallest subnormal
}

// ---- fused shards ----

TEST_CASE("[S12] fused q, k, v with scales .1, .2, .4 get the largest, without a loss",
          "[ops][requantize][bugs]") {
  random_source random(12);
  const auto make = [&](std::ptrdiff_t rows, float s) {
    return operand<e4m3, per_tensor>(
        rows, 33, [&] { return movable_code(random); }, [&] { return s; });
  };
  const auto q = make(4, 0.1f), k = make(2, 0.2f), v = make(3, 0.4f);
  requantize_report report;
  const auto qkv = requant_max<e4m3>({q.view(), k.view(), v.view()}, report);
  CHECK(qkv.scales()(0, 0) == 0.4f);
  CHECK(qkv.rows() == 9);
  CHECK(report.lossless_blocks == 3);
  CHECK(report.sqnr_db == infinite_db);
  const matrix<float> all = dequantize(qkv), q32 = dequantize(q), k32 = dequantize(k), v32 = dequantize(v);
  for (std::ptrdiff_t c = 0; c < 33; ++c) {
    CHECK(all(3, c) == q32(3, c));
    CHECK(all(5, c) == k32(1, c));
    CHECK(all(8, c) == v32(2, c));
  }
}

TEST_CASE("[S12] shards with other ratios are rounded once more, the one with the largest scale is not",
          "[ops][requantize][bugs]") {
  const auto gate = random_operand<e4m3, per_tensor>(3, 50);
  auto up = random_operand<e4m3, per_tensor>(2, 50);
  up.scales()(0, 0) = gate.scales()(0, 0) * 1.7f;
  requantize_report report;
  const auto both = requant_max<e4m3>({gate.view(), up.view()}, report);
  const float largest = up.scales()(0, 0);
  CHECK(both.scales()(0, 0) == largest);
  CHECK(report.blocks == 2);
  CHECK(report.lossless_blocks == 1);
  for (std::ptrdiff_t c = 0; c < 50; ++c) {
    for (std::ptrdiff_t r = 0; r < 3; ++r) {
      const float x = float(gate.codes()(r, c)) * gate.scales()(0, 0);
      CHECK(both.codes()(r, c).bits() == convert<e4m3>(x / largest).bits());
    }
    CHECK(both.codes()(3, c).bits() == up.codes()(0, c).bits());
    CHECK(both.codes()(4, c).bits() == up.codes()(1, c).bits());
  }
  CHECK(report.sqnr_db > 25);
  CHECK(report.sqnr_db < 60);
}

TEST_CASE("requant_max through fp16 rounds where vLLM does", "[ops][requantize]") {
  const float quantum = 0x1p-24f;  // the smallest fp16
  const auto code_of = [](const scaled_matrix<e4m3, per_tensor>& shard, requant_arithmetic arithmetic) {
    const auto out = requant_max<e4m3>({shard.view()}, {.arithmetic = arithmetic});
    CHECK(out.scales()(0, 0) == shard.scales()(0, 0));
    return out.codes()(0, 0).bits();
  };
  // 1.125 quanta are 1 in fp16, and 1 over the same scale is 38, not 39.
  CHECK(code_of(shard_of<e4m3>({0x39}, quantum), requant_arithmetic::float32) == 0x39);
  CHECK(code_of(shard_of<e4m3>({0x39}, quantum), requant_arithmetic::through_fp16) == 0x38);
  // 4 * 0.75 quanta are 3, exact. A scale of 0.75 quanta rounded to fp16 is 1: 4 / 0.75 = 5.33 becomes 5.5.
  CHECK(code_of(shard_of<e4m3>({0x48}, 0.75f * quantum), requant_arithmetic::through_fp16) == 0x48);
  CHECK(code_of(shard_of<e4m3>({0x48}, 0.75f * quantum), requant_arithmetic::through_fp16_scale) == 0x4b);
  // 448 * 256 is infinite in fp16, and is clamped to 448 again. A NaN is clamped to 448, too.
  CHECK(code_of(shard_of<e4m3>({0xfe}, 256.0f), requant_arithmetic::through_fp16) == 0xfe);
  CHECK(code_of(shard_of<e4m3>({0x7f}, 1.0f), requant_arithmetic::through_fp16) == 0x7e);
}

TEST_CASE("shards without rows do not decide the scale, and no shards are no rows", "[ops][requantize]") {
  const auto some = shard_of<e4m3>({0x38, 0x39}, 0.5f);
  scaled_matrix<e4m3, per_tensor> none(0, 2);
  none.scales()(0, 0) = 7.0f;
  const auto both = requant_max<e4m3>({none.view(), some.view()});
  CHECK(same(both, some));
  const auto nothing = requant_max<e4m3>({none.view()});
  CHECK(nothing.rows() == 0);
  CHECK(nothing.scales()(0, 0) == 1.0f);
}

// ---- FNUZ ----

namespace {

template <class E>
scaled_matrix<E, per_tensor> every_code(float scale) {
  scaled_matrix<E, per_tensor> q(1, 256);
  for (unsigned c = 0; c < 256; ++c) q.codes()(0, static_cast<std::ptrdiff_t>(c)) = E::from_bits(c);
  q.scales()(0, 0) = scale;
  return q;
}

}  // namespace

TEMPLATE_TEST_CASE("[S13] OCP bytes become FNUZ bytes with twice the scale, every number is kept",
                   "[ops][requantize][bugs]", e4m3, e5m2) {
  const auto ocp = every_code<TestType>(0.3f);
  quantize_counts counts;
  const auto fnuz = to_fnuz(ocp, counts);
  CHECK(fnuz.scales()(0, 0) == 0.6f);
  const matrix<float> before = dequantize(ocp), after = dequantize(fnuz);
  std::int64_t nan = 0, infinite = 0;
  for (std::ptrdiff_t c = 0; c < 256; ++c) {
    const TestType code = ocp.codes()(0, c);
    INFO("code " << c);
    if (isnan(code)) {
      ++nan;
      CHECK(fnuz.codes()(0, c).bits() == 0x80);
    } else if (isinf(code)) {
      ++infinite;
      CHECK(fnuz.codes()(0, c).bits() == (signbit(code) ? 0xff : 0x7f));
    } else {
      CHECK(fnuz.codes()(0, c).bits() == (c == 0x80 ? 0x00 : c));
      CHECK(after(0, c) == before(0, c));
    }
  }
  CHECK(counts == quantize_counts{infinite, 0, nan});
  CHECK(nan == (std::is_same_v<TestType, e4m3> ? 2 : 6));

  const auto back = to_ocp(fnuz);
  CHECK(back.scales()(0, 0) == 0.3f);
  for (std::ptrdiff_t c = 0; c < 256; ++c)
    if (isfinite(ocp.codes()(0, c)))
      CHECK(back.codes()(0, c).bits() == (c == 0x80 ? 0x00u : ocp.codes()(0, c).bits()));
}

TEMPLATE_TEST_CASE("[S13] FNUZ bytes become OCP bytes with half the scale, those beyond saturate",
                   "[ops][requantize][bugs]", e4m3fnuz, e5m2fnuz) {
  const auto fnuz = every_code<TestType>(0.3f);
  quantize_counts counts;
  const auto ocp = to_ocp(fnuz, counts);
  CHECK(ocp.scales()(0, 0) == 0.15f);
  const matrix<float> before = dequantize(fnuz), after = dequantize(ocp);
  const unsigned largest = std::is_same_v<TestType, e4m3fnuz> ? 0x7e : 0x7b;
  for (unsigned c = 0; c < 256; ++c) {
    INFO("code " << c);
    const auto at = static_cast<std::ptrdiff_t>(c);
    if (c == 0x80) {
      CHECK(isnan(ocp.codes()(0, at)));
    } else if ((c & 0x7f) > largest) {
      CHECK(ocp.codes()(0, at).bits() == (largest | (c & 0x80)));
    } else {
      CHECK(ocp.codes()(0, at).bits() == c);
      CHECK(after(0, at) == before(0, at));
    }
  }
  CHECK(counts == quantize_counts{2 * (0x7f - static_cast<std::int64_t>(largest)), 0, 1});
}

TEST_CASE("FNUZ scales double in every scale type, or it is refused", "[ops][requantize]") {
  scaled_matrix<e4m3, mx<32>> q(1, 64);
  q.scales()(0, 0) = e8m0::from_bits(0x7f), q.scales()(0, 1) = e8m0::from_bits(0x00);
  const auto fnuz = to_fnuz(q);
  CHECK(fnuz.scales()(0, 0).bits() == 0x80);
  CHECK(fnuz.scales()(0, 1).bits() == 0x01);
  CHECK(to_ocp(fnuz).scale_at(0, 40) == 0x1p-127f);
  q.scales()(0, 1) = e8m0::from_bits(0xfe);
  CHECK(message_of([&] { (void)to_fnuz(q); }) ==
        "to_fnuz: scale (0, 1) is 1.70141183e+38, times 2 it is no number of its type");
  scaled_matrix<e4m3fnuz, per_tensor> tiny(1, 1);
  tiny.scales()(0, 0) = 3 * std::numeric_limits<float>::denorm_min();
  CHECK_THROWS_AS(to_ocp(tiny), argument_error);
  tiny.scales()(0, 0) = 4 * std::numeric_limits<float>::denorm_min();
  CHECK(to_ocp(tiny).scale_at(0, 0) == 2 * std::numeric_limits<float>::denorm_min());
  tiny.scales()(0, 0) = 0.0f;
  CHECK(to_ocp(tiny).scale_at(0, 0) == 0.0f);
}

// ---- environment, errors ----

TEST_CASE("requantize gives the same bytes in every floating-point environment", "[ops][requantize]") {
  const auto q = random_operand<e4m3, per_channel>(4, 40);
  auto tiny = random_operand<e4m3, per_tensor>(1, 40);
  tiny.scales()(0, 0) = 0x1p-140f;
  const auto blocks = requantize<e4m3, block_wise<2, 16>>(q);
  const auto up = requantize<e5m2, per_tensor>(tiny, static_scale(0x1p-140f));
  const auto fused =
      requant_max<e4m3>({tiny.view(), tiny.view()}, {.arithmetic = requant_arithmetic::through_fp16});
  const auto fnuz = to_fnuz(tiny);
  int different = 0;
  test::for_each_fp_environment([&] {
    different += same(requantize<e4m3, block_wise<2, 16>>(q), blocks) ? 0 : 1;
    different += same(requantize<e5m2, per_tensor>(tiny, static_scale(0x1p-140f)), up) ? 0 : 1;
    different +=
        same(requant_max<e4m3>({tiny.view(), tiny.view()}, {.arithmetic = requant_arithmetic::through_fp16}),
             fused)
            ? 0
            : 1;
    different += same(to_fnuz(tiny), fnuz) ? 0 : 1;
  });
  CHECK(different == 0);
}

TEST_CASE("requantize refuses what does not fit, in sentences", "[ops][requantize]") {
  const auto a = shard_of<e4m3>({0x38, 0x38}, 1.0f), b = shard_of<e4m3>({0x38}, 1.0f);
  CHECK(message_of([&] {
          (void)requant_max<e4m3>({a.view(), b.view()});
        }) == "requant_max: shard 0 is 1x2, shard 1 is 1x1: columns differ");
  const auto zero = shard_of<e4m3>({0x38, 0x38}, 0.0f);
  CHECK(message_of([&] {
          (void)requant_max<e4m3>({a.view(), zero.view()});
        }) == "requant_max: shard 1 has scale 0: it must be finite and positive");
  CHECK(message_of([&] { (void)requantize<e4m3, mx<32>>(a, static_scale(0.3f)); }) ==
        "requantize: scale 0.300000012 cannot be stored in the scale's type without rounding");
  CHECK(message_of([&] {
          (void)requantize<e4m3, per_tensor>(a, {.conversion = {.rounding = rounding_mode::stochastic}});
        }) == "requantize: the recipe's conversion rounds stochastically: the kernels take no random bits");
}
