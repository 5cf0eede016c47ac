// SPDX-License-Identifier: Apache-2.0
// Observers and requantize in a file compiled with -ffast-math: NaN and infinity are still found, and the bits
// are those on paper (as in observer_test.cpp and requantize_test.cpp).
#include <ofp8/ofp8.hpp>

#include <cstdint>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

// Numbers by their bits: this file's compiler may assume that there is no NaN.
matrix<float> row_of_bits(std::initializer_list<std::uint32_t> bits) {
  matrix<float> m(1, static_cast<std::ptrdiff_t>(bits.size()));
  std::ptrdiff_t c = 0;
  for (const std::uint32_t b : bits) m(0, c++) = detail::float_from_bits(b);
  return m;
}

std::uint32_t bits_of(float x) { return detail::bits_of(x); }

}  // namespace

TEST_CASE("under -ffast-math observers find NaN and infinity and give the same scales", "[ops][observer]") {
  // NaN, -Inf, 3, -7, the smallest subnormal
  const matrix<float> x = row_of_bits({0x7fc00000, 0xff800000, 0x40400000, 0xc0e00000, 0x00000001});
  min_max_observer<> range;
  moving_average_observer<> average;
  histogram_observer<> histogram;
  range.observe(x), average.observe(x), histogram.observe(x);
  for (const observed_counts& counts : {range.counts(), average.counts(), histogram.counts()})
    CHECK(counts == observed_counts{5, 1, 1});
  CHECK(bits_of(range.scale<e4m3>()) == 0x3c800000);  // 7 / 448 = 2^-6
  CHECK(bits_of(histogram.percentile(100)(0, 0)) == 0x40e00000);
  CHECK(bits_of(histogram.percentile(1)(0, 0)) == 0x00002000);  // rounded up to 10 bits
  CHECK(bits_of(histogram.mse_scale<e4m3>()) == bits_of(mse_scales<e4m3, per_tensor>(x)(0, 0)));

  // -7 * fl(0.99) + -3 * fl(0.01), each product and the sum rounded.
  average.observe(row_of_bits({0xc0400000}));
  CHECK(bits_of(average.state().blocks(0, 0).average.min) == 0xc0deb853);

  amax_history_observer<e4m3> history({.window = 2});
  history.observe(row_of_bits({0x40e00000}));
  CHECK(bits_of(history.scale()) == 0x3c800000);
  history.observe(x);  // the NaN keeps the scale
  CHECK(bits_of(history.scale()) == 0x3c800000);
  CHECK(bits_of(history.state().history(0, 0)) == 0x7fc00000);
}

TEST_CASE("under -ffast-math requantizing keeps NaN, -0 and every exact number", "[ops][requantize]") {
  scaled_matrix<e4m3, per_channel> q(2, 4);
  q.scales()(0, 0) = 0.1f, q.scales()(1, 0) = 0.2f;
  const unsigned codes[] = {0x38, 0x80, 0x7f, 0xfe};
  for (std::ptrdiff_t c = 0; c < 4; ++c)
    q.codes()(0, c) = q.codes()(1, c) = e4m3::from_bits(codes[static_cast<std::size_t>(c)]);
  requantize_report report;
  const auto t = requantize<e4m3, per_tensor>(q, report);
  CHECK(report.lossless_blocks == 1);
  CHECK(bits_of(t.scales()(0, 0)) == bits_of(0.2f));
  const unsigned halves[] = {0x30, 0x80, 0x7f, 0xf6};
  for (std::ptrdiff_t c = 0; c < 4; ++c) {
    CHECK(t.codes()(0, c).bits() == halves[static_cast<std::size_t>(c)]);
    CHECK(t.codes()(1, c).bits() == codes[static_cast<std::size_t>(c)]);
  }
  const auto fnuz = to_fnuz(t);
  CHECK(fnuz.codes()(0, 1).bits() == 0x00);
  CHECK(fnuz.codes()(0, 2).bits() == 0x80);
  CHECK(bits_of(fnuz.scales()(0, 0)) == bits_of(0.4f));
}
