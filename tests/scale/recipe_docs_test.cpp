// SPDX-License-Identifier: Apache-2.0
// docs/recipes.md: a row for every recipe, and the measured table, recomputed.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <ofp8/ofp8.hpp>

#include "tests/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/random_bits.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

const std::string& document() {
  static const std::string text = [] {
    std::ifstream file(data_path("../../docs/recipes.md"));
    if (!file) throw std::runtime_error("cannot open docs/recipes.md");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

/// The activations of the table: 512 x 1024 of bf16, sums of 12 uniform numbers, close to a normal distribution.
matrix<bf16> activations() {
  random_source random(55);
  matrix<bf16> x(512, 1024);
  for (std::ptrdiff_t i = 0; i < 512 * 1024; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < 12; ++j) sum += static_cast<float>(random.bits32()) * 0x1p-32f;
    x.data()[i] = convert<bf16>(sum - 6.0f);
  }
  return x;
}

/// A row of the table: how many scales and codes differ from the default recipe's, and the ratio of signal to
/// quantization noise.
template <class G>
std::string measured(const named_recipe& r, const matrix<bf16>& x) {
  const auto ours = quantize<e4m3, G>(x, r.how), standard = quantize<e4m3, G>(x);
  const auto back = dequantize(ours);
  std::int64_t scales = 0, codes = 0;
  double signal = 0, noise = 0;
  for (std::ptrdiff_t i = 0; i < x.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < ours.scales().cols(); ++j)
      scales += float(ours.scales()(i, j)) != float(standard.scales()(i, j)) ? 1 : 0;
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c) {
      codes += ours.codes()(i, c).bits() != standard.codes()(i, c).bits() ? 1 : 0;
      const double v = double(float(x(i, c))), error = double(back(i, c)) - v;
      signal += v * v;
      noise += error * error;
    }
  }
  const auto grid = static_cast<double>(x.rows() * ours.scales().cols());
  char line[160];
  std::snprintf(line, sizeof line, "| `%s` | %.2f %% | %.3f %% | %.2f |", r.name,
                100.0 * static_cast<double>(scales) / grid,
                100.0 * static_cast<double>(codes) / static_cast<double>(x.rows() * x.cols()),
                10.0 * std::log10(signal / noise));
  return line;
}

bool needs_a_given_scale(const named_recipe& r) {
  const std::string name = r.name;
  return name == "vllm_tensor_static" || name.find("ort_") == 0;
}

}  // namespace

TEST_CASE("docs/recipes.md has a row for every recipe") {
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    CHECK(document().find("\n| `" + std::string(r.name) + "` | ") != std::string::npos);
  }
}

TEST_CASE("the measured table of docs/recipes.md is what the recipes give") {
  const matrix<bf16> x = activations();
  for (const named_recipe& r : recipes::all) {
    if (needs_a_given_scale(r)) continue;
    const bool is_mx = std::string(r.name).find("mx") != std::string::npos;
    const std::string line = is_mx ? measured<mx<32>>(r, x) : measured<per_group<128>>(r, x);
    INFO(line);
    CHECK(document().find('\n' + line + '\n') != std::string::npos);
  }
}
