// SPDX-License-Identifier: Apache-2.0
// Observers: values on paper, the laws of merging, delayed scaling against what flax returns.
#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>
#include <ofp8/ops/observer.hpp>
#include <ofp8/reference/quantize.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/random_bits.hpp"

using namespace ofp8;
using ofp8::test::random_source;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

matrix<float> rows_of(std::initializer_list<std::initializer_list<float>> rows) {
  matrix<float> m(static_cast<std::ptrdiff_t>(rows.size()),
                  static_cast<std::ptrdiff_t>(rows.begin()->size()));
  float* to = m.data();
  for (const auto& row : rows)
    for (const float x : row) *to++ = x;
  return m;
}

/// Numbers of any size, some of them NaN or infinite.
matrix<float> random_matrix(std::ptrdiff_t rows, std::ptrdiff_t cols, std::uint64_t seed) {
  random_source random(seed);
  matrix<float> m(rows, cols);
  for (std::ptrdiff_t i = 0; i < rows * cols; ++i)
    m.data()[i] = detail::float_from_bits((random.bits32() & 0x87ff'ffff) | 0x3800'0000);
  if (rows * cols > 10) m.data()[3] = not_a_number, m.data()[7] = -inf;
  return m;
}

bool same(const matrix<float>& a, const matrix<float>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (std::ptrdiff_t i = 0; i < a.rows() * a.cols(); ++i)
    if (detail::bits_of(a.data()[i]) != detail::bits_of(b.data()[i])) return false;
  return true;
}

std::vector<float> numbers(const std::string& cell) {
  std::istringstream text(cell);
  std::vector<float> out;
  for (std::uint32_t bits = 0; text >> std::hex >> bits;) out.push_back(detail::float_from_bits(bits));
  return out;
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

// ---- min and max ----

TEST_CASE("min_max_observer keeps the range of everything it saw", "[ops][observer]") {
  min_max_observer<> seen;
  seen.observe(rows_of({{1, -7}, {3, 0}}));
  seen.observe(rows_of({{14, -0.0f}}));
  CHECK(seen.ranges()(0, 0).min == -7);
  CHECK(seen.ranges()(0, 0).max == 14);
  CHECK(seen.scale<e4m3>() == 14.0f / 448.0f);
  CHECK(seen.scale<e5m2>() == 14.0f / 57344.0f);
  CHECK(seen.scale<e4m3>({.power = power_rule::up}) == 0.03125f);
  CHECK(seen.counts() == observed_counts{6, 0, 0});
}

TEST_CASE("observers have one scale a channel, a group or a block", "[ops][observer]") {
  const matrix<float> x = rows_of({{1, 2, -3}, {4, -5, 6}});
  min_max_observer<per_channel> channels;
  channels.observe(x);
  CHECK(same(channels.amax(), rows_of({{3}, {6}})));
  CHECK(channels.scales<e4m3>()(1, 0) == 6.0f / 448.0f);

  min_max_observer<scale_block<whole, 2>> groups;  // static activation scales along K
  groups.observe(x);
  groups.observe(rows_of({{9, 0, 0}}));  // another number of tokens
  CHECK(same(groups.amax(), rows_of({{9, 6}})));

  min_max_observer<scale_block<1, 2, e8m0>> powers;
  powers.observe(x);
  CHECK(powers.scales<e4m3>()(1, 1) == 0.015625f);  // 6 / 448 = 0.0134, rounded up to a power of two
  CHECK(powers.scales<e4m3>()(0, 1) == 0.0078125f);
}

TEST_CASE("NaN and infinity are counted and leave every range as it is", "[ops][observer]") {
  const matrix<float> x = rows_of({{not_a_number, -2, inf}, {-inf, 1, -not_a_number}});
  min_max_observer<> range;
  moving_average_observer<> average;
  histogram_observer<> histogram;
  range.observe(x), average.observe(x), histogram.observe(x);
  for (const observed_counts& counts : {range.counts(), average.counts(), histogram.counts()})
    CHECK(counts == observed_counts{6, 2, 2});
  CHECK(range.amax()(0, 0) == 2);
  CHECK(average.amax()(0, 0) == 2);
  CHECK(histogram.percentile(100)(0, 0) == 2);

  // Nothing finite at all is an amax of 0, which the recipe turns into a scale of 1.
  min_max_observer<> nothing;
  nothing.observe(rows_of({{not_a_number, inf}}));
  CHECK(nothing.scale<e4m3>() == 1.0f);
  average.observe(rows_of({{not_a_number, inf}}));
  CHECK(average.amax()(0, 0) == 2);
}

TEST_CASE("a batch without rows is no error and changes no scale", "[ops][observer]") {
  min_max_observer<> seen;
  moving_average_observer<> average;
  histogram_observer<> histogram;
  const matrix<float> none(0, 4), some = rows_of({{1, 2, 3, 4}});
  seen.observe(none), average.observe(none), histogram.observe(none);
  seen.observe(some), average.observe(some), histogram.observe(some);
  seen.observe(none), average.observe(none), histogram.observe(none);
  CHECK(seen.scale<e4m3>() == 4.0f / 448.0f);
  CHECK(average.scale<e4m3>() == 4.0f / 448.0f);
  CHECK(histogram.percentile_scale<e4m3>(100) == 4.0f / 448.0f);
}

TEST_CASE("merging observers of parts is observing the whole, in any order and grouping", "[ops][observer]") {
  const matrix<float> parts[3] = {random_matrix(5, 70, 1), random_matrix(9, 70, 2), random_matrix(2, 70, 3)};
  using G = scale_block<whole, 32>;
  min_max_observer<G> all, part[3];
  histogram_observer<G> counted, counted_part[3];
  for (int i = 0; i < 3; ++i) {
    all.observe(parts[i]), part[i].observe(parts[i]);
    counted.observe(parts[i]), counted_part[i].observe(parts[i]);
  }
  int order[3] = {0, 1, 2};
  do {
    min_max_observer<G> left, right = part[order[1]];
    histogram_observer<G> counted_left, counted_right = counted_part[order[1]];
    for (const int i : order) left.merge(part[i]), counted_left.merge(counted_part[i]);
    right.merge(part[order[2]]), counted_right.merge(counted_part[order[2]]);
    min_max_observer<G> grouped = part[order[0]];
    histogram_observer<G> counted_grouped = counted_part[order[0]];
    grouped.merge(right), counted_grouped.merge(counted_right);
    for (const auto* o : {&left, &grouped}) {
      CHECK(same(o->amax(), all.amax()));
      CHECK(o->counts() == all.counts());
    }
    for (const auto* o : {&counted_left, &counted_grouped}) {
      const matrix<std::int64_t>&a = o->state().counts, &b = counted.state().counts;
      CHECK(std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data()));
      CHECK(o->counts() == counted.counts());
    }
  } while (std::next_permutation(order, order + 3));
}

TEST_CASE("1 to 8 threads observe the same", "[ops][observer]") {
  const matrix<float> tall = random_matrix(4000, 100, 5);
  min_max_observer<> range;
  min_max_observer<block_wise<64, 32>> blocks;
  histogram_observer<> histogram;
  range.observe(tall), blocks.observe(tall), histogram.observe(tall);
  const matrix<float> searched = mse_scales<e4m3, per_tensor>(tall, {.candidates = 5});
  for (int threads = 1; threads <= 8; ++threads) {
    thread_pool pool(threads);
    min_max_observer<> range2;
    min_max_observer<block_wise<64, 32>> blocks2;
    histogram_observer<> histogram2;
    range2.observe(tall, {.executor = pool});
    blocks2.observe(tall, {.executor = pool});
    histogram2.observe(tall, {.executor = pool});
    CHECK(same(range.amax(), range2.amax()));
    CHECK(range.counts() == range2.counts());
    CHECK(same(blocks.amax(), blocks2.amax()));
    const matrix<std::int64_t>&a = histogram.state().counts, &b = histogram2.state().counts;
    CHECK(std::equal(a.data(), a.data() + a.cols(), b.data()));
    CHECK(histogram.counts() == histogram2.counts());
    CHECK(same(mse_scales<e4m3, per_tensor>(tall, {.candidates = 5}, {}, {.executor = pool}), searched));
  }
}

// ---- moving average ----

TEST_CASE("the moving average follows compressed-tensors' formula", "[ops][observer]") {
  moving_average_observer<> seen;
  seen.observe(rows_of({{-4, 8}}));
  CHECK(seen.amax()(0, 0) == 8);
  seen.observe(rows_of({{-2, 16}}));
  const auto average = seen.state().blocks(0, 0).average;
  // Each product and the sum are rounded to float: 8 * 0.99f + 16 * 0.01f.
  const float kept = 8 * 0.99f, added = 16 * 0.01f;
  CHECK(average.max == kept + added);
  CHECK(average.max == Approx(8.08).epsilon(1e-6));
  CHECK(average.min == Approx(-3.98).epsilon(1e-6));
  CHECK(seen.scale<e4m3>() == (kept + added) / 448.0f);

  // Minimum and maximum are averaged apart, so alternating signs give less than the average of the amax.
  moving_average_observer<> half({.averaging_constant = 0.5});
  half.observe(rows_of({{-3, 1}}));
  half.observe(rows_of({{-1, 3}}));
  CHECK(half.amax()(0, 0) == 2);
}

TEST_CASE("merging moving averages is observing one sequence after the other", "[ops][observer]") {
  // Halves of small integers are exact, so equality is meant.
  const moving_average_options half{.averaging_constant = 0.5};
  const float values[6] = {64, 8, -16, 32, 24, 40};
  for (int cut = 0; cut <= 6; ++cut) {
    for (int cut2 = cut; cut2 <= 6; ++cut2) {
      moving_average_observer<> whole_sequence(half), a(half), b(half), c(half);
      for (int i = 0; i < 6; ++i) {
        const matrix<float> x = rows_of({{values[i], -1}});
        whole_sequence.observe(x);
        (i < cut ? a : i < cut2 ? b : c).observe(x);
      }
      moving_average_observer<> left = a, right = b;
      left.merge(b), left.merge(c);
      right.merge(c);
      moving_average_observer<> grouped = a;
      grouped.merge(right);
      for (const auto* o : {&left, &grouped}) {
        CHECK(o->state().blocks(0, 0).average.max == whole_sequence.state().blocks(0, 0).average.max);
        CHECK(o->state().blocks(0, 0).average.min == whole_sequence.state().blocks(0, 0).average.min);
        CHECK(o->state().blocks(0, 0).batches == 6);
        CHECK(o->counts() == whole_sequence.counts());
      }
    }
  }
}

// ---- percentile ----

TEST_CASE("a percentile is the nearest rank of the magnitudes", "[ops][observer]") {
  matrix<float> x(1, 1000);
  for (std::ptrdiff_t i = 0; i < 1000; ++i) x(0, i) = (i % 2 == 0 ? 1.0f : -1.0f) * static_cast<float>(i + 1);
  histogram_observer<> seen;
  seen.observe(x);
  CHECK(seen.percentile(100)(0, 0) == 1000);
  CHECK(seen.percentile(99.9)(0, 0) == 999);
  CHECK(seen.percentile(99.91)(0, 0) == 1000);
  CHECK(seen.percentile(50)(0, 0) == 500);
  CHECK(seen.percentile(0.1)(0, 0) == 1);
  CHECK(seen.percentile(1e-9)(0, 0) == 1);
  CHECK(seen.percentile_scale<e4m3>(50) == 500.0f / 448.0f);
}

TEST_CASE("percentiles are exact for bf16 and fp16 and the next 11-bit number above for float",
          "[ops][observer]") {
  random_source random(11);
  const auto check = [&]<class T>(T, auto make) {
    matrix<T> x(7, 143);
    std::vector<float> magnitudes;
    for (std::ptrdiff_t i = 0; i < 7 * 143; ++i) {
      T v = make();
      while (!std::isfinite(static_cast<float>(v))) v = make();
      x.data()[i] = v;
      magnitudes.push_back(std::fabs(static_cast<float>(v)));
    }
    std::sort(magnitudes.begin(), magnitudes.end());
    histogram_observer<> seen;
    seen.observe(x);
    for (const double p : {1.0, 25.0, 50.0, 99.0, 99.9, 100.0}) {
      const auto rank = static_cast<std::size_t>(std::ceil(p * 1001 / 100)) - 1;
      std::uint32_t bits = detail::bits_of(magnitudes[rank]);
      if constexpr (std::is_same_v<T, float>)
        bits = std::min((bits + 0x1fffu) & ~0x1fffu, detail::float_infinity - 1);
      CHECK(detail::bits_of(seen.percentile(p)(0, 0)) == bits);
    }
  };
  check(bf16{}, [&] { return bf16::from_bits(random.bits32() & 0xffff); });
  check(fp16{}, [&] { return fp16::from_bits(random.bits32() & 0xffff); });
  check(float{}, [&] { return detail::float_from_bits(random.bits32()); });
}

TEST_CASE("the largest floats and the smallest subnormals have bins", "[ops][observer]") {
  const float largest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  for (const int bits : {0, 10, 16}) {
    histogram_observer<> seen({.mantissa_bits = bits});
    seen.observe(rows_of({{largest, -least, 0}}));
    CHECK(seen.percentile(100)(0, 0) == largest);
    CHECK(seen.percentile(10)(0, 0) == 0);
    CHECK(seen.percentile(60)(0, 0) > 0);
    CHECK(seen.percentile(60)(0, 0) <= 0x1p-126f);
  }
}

// ---- least squared error ----

namespace {
/// The specification: the same search, by the reference.
template <class E, class G>
double error_with(const matrix<float>& x, float scale) {
  const matrix<float> back =
      reference::dequantize(reference::quantize<E, G>(x, static_cast<static_scale>(scale)));
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < x.rows() * x.cols(); ++i) {
    const double e = static_cast<double>(x.data()[i]) - static_cast<double>(back.data()[i]);
    sum = std::fma(e, e, sum);
  }
  return sum;
}
}  // namespace

TEST_CASE("the MSE search finds the best of its candidates", "[ops][observer]") {
  random_source random(3);
  matrix<float> x(3, 300);
  for (std::ptrdiff_t i = 0; i < 900; ++i)
    x.data()[i] = static_cast<float>(static_cast<int>(random.below(2001)) - 1000) / 64.0f;
  const mse_grid grid{.steps = 50, .candidates = 40};
  min_max_observer<> range;
  range.observe(x);
  const float amax = range.amax()(0, 0);
  double least = HUGE_VAL;
  float best = 0;
  for (int i = 0; i < grid.candidates; ++i) {
    const float s = static_cast<float>(static_cast<double>(amax) * (50 - i) / 50) / 448.0f;
    const double error = error_with<e4m3, per_tensor>(x, s);
    if (error < least) least = error, best = s;
  }
  CHECK(mse_scales<e4m3, per_tensor>(x, grid)(0, 0) == best);
  CHECK(best != amax / 448.0f);  // the search had something to find

  // A histogram that is exact for the data finds the same scale; only the order of the sum differs.
  matrix<bf16> half(3, 300);
  for (std::ptrdiff_t i = 0; i < 900; ++i) half.data()[i] = convert<bf16>(x.data()[i]);
  histogram_observer<> seen;
  seen.observe(half);
  CHECK(seen.mse_scale<e4m3>(grid) == mse_scales<e4m3, per_tensor>(half, grid)(0, 0));
}

TEST_CASE("the MSE search saturates one outlier among many equal numbers", "[ops][observer]") {
  // With s = 28/448 = 1/16, 1.06 is 16.96 s and becomes 16 s = 1: the squares of 10,000 errors of 0.06 sum to
  // 36. With i percent less, 1.06 becomes 18 s = 1.125 (1 - i/100) and the outlier loses 28 i/100. The sums:
  // i = 4: 4.0 + 1.25, i = 5: 0.77 + 1.96, i = 6: 0.06 + 2.82. The best is 5.
  // What is not finite has no error.
  matrix<float> x(1, 10003);
  for (std::ptrdiff_t i = 0; i < 10000; ++i) x(0, i) = 1.06f;
  x(0, 10000) = 28.0f, x(0, 10001) = inf, x(0, 10002) = not_a_number;
  CHECK(mse_scales<e4m3, per_tensor>(x)(0, 0) == static_cast<float>(28.0 * 95 / 100) / 448.0f);
}

TEST_CASE("the MSE search leaves the amax where every number is exact, and takes 1 for zeros",
          "[ops][observer]") {
  CHECK(mse_scales<e4m3, per_channel>(rows_of({{448, -1, 3, 0}, {0, 0, 0, 0}}))(0, 0) == 1.0f);
  CHECK(mse_scales<e4m3, per_channel>(rows_of({{448, -1, 3, 0}, {0, 0, 0, 0}}))(1, 0) == 1.0f);
  CHECK(mse_scales<e4m3, per_channel>(rows_of({{not_a_number, 224, inf}}))(0, 0) == 0.5f);
  CHECK(mse_scales<e4m3, per_tensor>(matrix<float>(0, 0)).rows() == 1);
  CHECK(mse_scales<e4m3, mx<32>>(rows_of({{300}}))(0, 0) == 1.0f);  // a power of two, not rounded afterwards
}

TEST_CASE("of equal errors the MSE search takes the largest scale", "[ops][observer]") {
  // 57 over 2^-2 is 228, rounded to 224: 56. Over 2^-3 it is 456, saturated to 448: 56 again.
  const matrix<float> x = rows_of({{57}});
  CHECK(mse_scales<e4m3, mx<32>>(x)(0, 0) == 0.25f);
  histogram_observer<scale_block<whole, whole, e8m0>> seen;
  seen.observe(x);
  CHECK(seen.mse_scale<e4m3>() == 0.25f);
}

TEST_CASE("the MSE search gives the same scale on every backend", "[ops][observer]") {
  const matrix<float> x = random_matrix(3, 700, 9);
  const matrix<float> wanted = mse_scales<e5m2, per_group<64>>(x, {}, {}, {.isa = isa::scalar});
  for (isa i : available_isas()) CHECK(same(mse_scales<e5m2, per_group<64>>(x, {}, {}, {.isa = i}), wanted));
}

// ---- delayed scaling ----

TEST_CASE("delayed scaling is a step behind, and a bad amax keeps the old scale", "[ops][observer]") {
  amax_history_observer<e4m3> seen({.window = 3});
  CHECK(seen.scale() == 1.0f);
  const auto scale_after = [&](float amax) {
    seen.observe(rows_of({{amax, -1}}));
    return seen.scale();
  };
  const auto s = [](float amax) { return 1.0f / (448.0f / amax); };
  CHECK(scale_after(7) == s(7));
  CHECK(scale_after(28) == s(28));
  CHECK(scale_after(14) == s(28));            // still in the window
  CHECK(scale_after(not_a_number) == s(28));  // 28, 14, NaN
  CHECK(scale_after(2) == s(28));             // 14, NaN, 2: the NaN keeps what was
  CHECK(scale_after(3) == s(28));             // NaN, 2, 3
  CHECK(scale_after(2) == s(3));              // it is gone
  CHECK(scale_after(inf) == s(3));
  CHECK(seen.counts() == observed_counts{16, 1, 1});
}

TEST_CASE("the most recent amax forgets at once, and a margin is a power of two", "[ops][observer]") {
  amax_history_observer<e5m2> seen({.choose = amax_choice::most_recent, .margin = 2});
  seen.record(7);
  CHECK(seen.inverse() == 57344.0f / 7.0f / 4.0f);
  seen.record(1);
  CHECK(seen.scale() == 4.0f / 57344.0f);
  seen.record(0);
  CHECK(seen.scale() == 4.0f / 57344.0f);
  seen.record(-14);
  CHECK(seen.scale() == 4.0f / 4096.0f);
}

TEST_CASE("an infinite inverse becomes the largest float, or stays where asked", "[ops][observer]") {
  amax_history_observer<e4m3> te({.window = 1}),
      flax({.window = 1, .on_infinite_inverse = infinite_inverse_rule::keep});
  te.record(1e-37f), flax.record(1e-37f);
  CHECK(te.inverse() == std::numeric_limits<float>::max());
  CHECK(te.scale() > 0);
  CHECK(flax.scale() == 0);
}

TEST_CASE("histories merge age by age, in any order", "[ops][observer]") {
  const amax_history_options two{.window = 2};
  amax_history_observer<e4m3> a(two), b(two);
  a.record(5), a.record(2);
  b.record(3), b.record(4);
  amax_history_observer<e4m3> ab = a, ba = b;
  ab.merge(b), ba.merge(a);
  for (const auto* o : {&ab, &ba}) {
    CHECK(same(o->state().history, rows_of({{4, 5}})));
    CHECK(o->scale() == 1.0f / (448.0f / 5.0f));
  }
}

TEST_CASE("delayed scaling gives the history, scale and codes of flax on every row", "[ops][observer]") {
  const test::golden_table table("recipes/flax_delayed.tsv");
  const auto run = [&]<class E>(E, const std::string& type) {
    std::string sequence;
    amax_history_observer<E> seen;
    int rows = 0;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      if (table.cell(i, "q_type") != type) continue;
      INFO(table.cell(i, "sequence") << " step " << table.cell(i, "step") << ' ' << type);
      if (table.cell(i, "step") == "0")
        seen = amax_history_observer<E>({.window = 4, .on_infinite_inverse = infinite_inverse_rule::keep});
      std::vector<float> x = numbers(table.cell(i, "x"));
      for (float& v : x)  // XLA flushes subnormal inputs on the CPU; we do not
        if (detail::magnitude_bits(v) < detail::float_smallest_normal) v = 0.0f * v;
      const float s = numbers(table.cell(i, "s"))[0];

      CHECK(detail::bits_of(seen.scale()) == detail::bits_of(s));
      const matrix_view<const float> row(x.data(), 1, static_cast<std::ptrdiff_t>(x.size()));
      if (s > 0) {  // 0 is flax's answer to an inverse that overflowed: nothing to quantize with
        std::ostringstream codes;
        // jnp clips and casts: saturating, with ml_dtypes' NaN.
        const auto q = quantize<E, per_tensor>(row, static_scale(s), {.conversion = like_arm(E::spec)});
        for (std::ptrdiff_t c = 0; c < q.cols(); ++c) {
          char text[8];
          std::snprintf(text, sizeof text, "%s%02x", c == 0 ? "" : " ", q.codes()(0, c).bits());
          codes << text;
        }
        CHECK(codes.str() == table.cell(i, "codes"));
      }
      seen.observe(row);
      // flax rolls to the left and writes the newest over the first: newest, then oldest to second newest.
      const std::vector<float> history = numbers(table.cell(i, "history"));
      for (std::ptrdiff_t age = 0; age < 4; ++age)
        CHECK(detail::bits_of(seen.state().history(0, age)) ==
              detail::bits_of(history[static_cast<std::size_t>(age == 0 ? 0 : 4 - age)]));
      ++rows;
    }
    CHECK(rows == 56);
  };
  run(e4m3::from_bits(0), "e4m3fn");
  run(e5m2::from_bits(0), "e5m2");
}

// ---- state, environment, errors ----

TEST_CASE("a saved observer goes on where it stopped", "[ops][observer]") {
  const matrix<float> first = random_matrix(3, 40, 20), second = random_matrix(3, 40, 21);
  const auto check = [&](auto observer, auto answer) {
    observer.observe(first);
    auto loaded = decltype(observer)(observer.state());
    observer.observe(second), loaded.observe(second);
    CHECK(same(answer(observer), answer(loaded)));
    CHECK(observer.counts() == loaded.counts());
  };
  check(min_max_observer<per_channel>(), [](const auto& o) { return o.amax(); });
  check(moving_average_observer<per_channel>(), [](const auto& o) { return o.amax(); });
  check(histogram_observer<per_channel>({.mantissa_bits = 3}),
        [](const auto& o) { return o.percentile(70); });
  check(amax_history_observer<e4m3>({.window = 5}), [](const auto& o) {
    return rows_of({{o.scale(), o.inverse()}});
  });
}

TEST_CASE("rounding mode and denormal flags of the caller change nothing", "[ops][observer]") {
  matrix<float> x = random_matrix(4, 50, 30);
  x(0, 0) = std::numeric_limits<float>::denorm_min();
  const auto all = [&] {
    moving_average_observer<> average;
    average.observe(x), average.observe(rows_of({{1e-39f, 3.3f}}));
    histogram_observer<> histogram;
    histogram.observe(x);
    amax_history_observer<e4m3> history;
    history.observe(x);
    return rows_of({{average.scale<e4m3>(), histogram.percentile_scale<e4m3>(99), histogram.mse_scale<e4m3>(),
                     history.scale(), mse_scales<e4m3, per_tensor>(x)(0, 0)}});
  };
  const matrix<float> wanted = all();
  int different = 0;
  test::for_each_fp_environment([&] { different += same(all(), wanted) ? 0 : 1; });
  CHECK(different == 0);
}

TEST_CASE("observers refuse what does not fit, in sentences", "[ops][observer]") {
  min_max_observer<per_channel> channels;
  channels.observe(matrix<float>(8, 3));
  CHECK(message_of([&] { channels.observe(matrix<float>(4, 3)); }) ==
        "min_max_observer::observe: the blocks of x are 4x1, those observed before are 8x1: grids differ");
  CHECK(message_of([] { (void)min_max_observer<>().scale<e4m3>(); }) ==
        "min_max_observer::scales: 0 elements were observed, a scale needs at least 1");
  CHECK(message_of([] { moving_average_observer<>({.averaging_constant = not_a_number}); }) ==
        "moving_average_observer: averaging_constant is nan: it must be above 0 and at most 1");
  CHECK_THROWS_AS(moving_average_observer<>({.averaging_constant = 0}), argument_error);
  CHECK_THROWS_AS(moving_average_observer<>({.averaging_constant = -0.01}), argument_error);
  CHECK(message_of([] {
          moving_average_observer<> a, b({.averaging_constant = 0.5});
          a.merge(b);
        }) ==
        "moving_average_observer::merge: averaging_constant is 0.01, the other's is 0.5: options differ");
  CHECK(message_of([] { histogram_observer<>({.mantissa_bits = 17}); }) ==
        "histogram_observer: mantissa_bits is 17: it must be 0 .. 16");
  CHECK(message_of([] { (void)histogram_observer<>().percentile(100.5); }) ==
        "histogram_observer: percent is 100.5: it must be above 0 and at most 100");
  CHECK(message_of([] {
          histogram_observer<>(histogram_state{{.mantissa_bits = 1}, {1, 1}, {}, {}});
        }) == "histogram_observer: counts are 0x0, 1x1 blocks need 1x511");
  CHECK(message_of([] { amax_history_observer<e4m3>({.window = 0}); }) ==
        "amax_history_observer: window is 0: it must be at least 1");
  CHECK(message_of([] {
          amax_history_observer<e4m3> a({.window = 2}), b({.window = 3});
          a.merge(b);
        }) == "amax_history_observer::merge: window is 2, the other's is 3: options differ");
  CHECK(message_of([] { (void)mse_scales<e4m3, per_tensor>(matrix<float>(1, 1), {.candidates = 0}); }) ==
        "mse_scales: candidates is 0: it must be 1 .. steps");
}
