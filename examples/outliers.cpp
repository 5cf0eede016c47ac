// SPDX-License-Identifier: Apache-2.0
// What outliers do to INT8, E4M3 and E5M2: 64 rows of 4096 Gaussian numbers, in every eighth row one outlier,
// 1 to 1000 times the largest ordinary number. The table shows how well the ordinary numbers survive: their
// signal to quantization noise ratio in dB, for one scale a tensor, a row (per channel, per token), or 1x128.
//
//   outliers [plot.svg]
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/int8.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "outliers/svg_plot.hpp"

using namespace ofp8;

namespace {

constexpr std::ptrdiff_t row_count = 64, col_count = 4096, rows_of_outlier = 8;

/// SplitMix64 (Steele et al. 2014), and the sum of twelve uniform numbers for a Gaussian: the same bits on every
/// machine, which std::normal_distribution and a logarithm do not promise.
class gaussian {
 public:
  explicit gaussian(std::uint64_t seed) : state_(seed) {}
  float operator()() {
    std::int64_t sum = 0;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t bits = next();
      for (int part = 0; part < 64; part += 16) sum += static_cast<std::int64_t>((bits >> part) & 0xffff);
    }
    return static_cast<float>(sum - 6 * 65535) / 65536.0f;
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// Where the outlier of row r stands.
std::ptrdiff_t outlier_column(std::ptrdiff_t r) { return (r * 509 + 300) % col_count; }

void set_outliers(matrix<float>& x, float value) {
  for (std::ptrdiff_t r = 0; r < row_count; r += rows_of_outlier) x(r, outlier_column(r)) = value;
}

/// Of the ordinary numbers: the outliers' squares would hide them.
double ordinary_sqnr_db(matrix<float> x, matrix<float> back) {
  set_outliers(x, 0.0f);
  set_outliers(back, 0.0f);
  return sqnr_db(x, back);
}

template <class G>
double int8_db(const matrix<float>& x) {
  return ordinary_sqnr_db(x, reference::dequantize(reference::quantize_int8<G>(x)));
}
template <class E, class G>
double fp8_db(const matrix<float>& x) {
  return ordinary_sqnr_db(x, dequantize(quantize<E, G>(x)));
}

}  // namespace

int main(int argc, char** argv) {
  gaussian random(2024);
  matrix<float> x(row_count, col_count);
  for (std::ptrdiff_t r = 0; r < row_count; ++r)
    for (std::ptrdiff_t c = 0; c < col_count; ++c) x(r, c) = random();
  set_outliers(x, 0.0f);
  min_max_observer<> seen;
  seen.observe(x);
  const float largest = seen.amax()(0, 0);

  const char *formats[] = {"INT8", "E4M3", "E5M2"}, *scales[] = {"tensor", "channel", "1x128"};
  const char *colors[] = {"#d62728", "#1f77b4", "#2ca02c"}, *dashes[] = {"", "8 4", "2 4"};
  std::vector<curve> curves;
  std::printf("SQNR of the ordinary numbers, dB\n%13s%25s%25s", formats[0], formats[1], formats[2]);
  std::printf("\noutlier  ");
  for (int f = 0; f < 3; ++f) {
    std::printf("  %6s %7s %8s", scales[0], scales[1], scales[2]);
    for (int s = 0; s < 3; ++s)
      curves.push_back({std::string(formats[f]) + ", " + scales[s], colors[f], dashes[s], {}});
  }
  std::printf("\n");

  for (const int times : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
    set_outliers(x, largest * static_cast<float>(times));
    using group = per_group<128>;
    const double db[] = {int8_db<per_tensor>(x),      int8_db<per_channel>(x),      int8_db<group>(x),
                         fp8_db<e4m3, per_tensor>(x), fp8_db<e4m3, per_channel>(x), fp8_db<e4m3, group>(x),
                         fp8_db<e5m2, per_tensor>(x), fp8_db<e5m2, per_channel>(x), fp8_db<e5m2, group>(x)};
    std::printf("%6dx  ", times);
    for (std::size_t i = 0; i < curves.size(); ++i) {
      std::printf(i % 3 == 0 ? "  %6.1f" : i % 3 == 1 ? " %7.1f" : " %8.1f", db[i]);
      curves[i].points.emplace_back(times, db[i]);
    }
    std::printf("\n");
  }

  if (argc < 2) return 0;
  svg_plot plot("What is left of the ordinary numbers beside an outlier", "outlier / largest ordinary number",
                "SQNR of the ordinary numbers, dB");
  for (const curve& c : curves) plot.add(c);
  if (plot.write(argv[1], 1000, 50, 10)) return 0;
  std::fprintf(stderr, "outliers: cannot write %s\n", argv[1]);
  return 1;
}
