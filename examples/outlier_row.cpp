// SPDX-License-Identifier: Apache-2.0
// Why FP8: one activation row with an outlier, at one scale. FP8 keeps a relative error for every number; INT8
// has one absolute step, which the outlier sets, and loses the small ones.
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/int8.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cstdio>
#include <string>

using namespace ofp8;

namespace {

/// Rounded to four decimals, at least one of them shown: 0.0192, 3.125, 400.0.
std::string four_decimals(float x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", static_cast<double>(x));
  std::string rounded = text;
  while (rounded.back() == '0' && rounded[rounded.size() - 2] != '.') rounded.pop_back();
  return rounded;
}

void print(const char* name, const matrix<float>& row) {
  std::printf("%-5s [", name);
  for (std::ptrdiff_t c = 0; c < row.cols(); ++c) {
    std::printf("%s%s", c == 0 ? "" : ", ", four_decimals(row(0, c)).c_str());
  }
  std::printf("]\n");
}

}  // namespace

int main() {
  matrix<float> row(1, 7);
  std::ptrdiff_t c = 0;
  for (const float x : {0.02f, -0.5f, 1.3f, 7.9f, -0.004f, 3.1f, 400.0f}) row(0, c++) = x;

  print("input", row);
  print("FP8", dequantize(quantize<e4m3, per_tensor>(row)));
  print("INT8", reference::dequantize(reference::quantize_int8<per_tensor>(row)));
}
