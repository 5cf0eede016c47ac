// SPDX-License-Identifier: Apache-2.0
// The first screen of the README: the marked lines and what they print.
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/gemm.hpp>

#include <cstring>
#include <iostream>
#include <random>
#include <vector>

using namespace ofp8;

namespace {

/// Uniform in -1 .. 1, the same on every machine.
matrix<float> noise(std::ptrdiff_t rows, std::ptrdiff_t cols, unsigned seed) {
  std::mt19937 random(seed);
  matrix<float> m(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for (std::ptrdiff_t c = 0; c < cols; ++c) m(r, c) = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
  }
  return m;
}

/// a w^T + bias in double.
matrix<double> exact_product(const matrix<float>& a, const matrix<float>& w, const std::vector<float>& bias) {
  matrix<double> d(a.rows(), w.rows());
  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      d(m, n) = static_cast<double>(bias[static_cast<std::size_t>(n)]);
      for (std::ptrdiff_t k = 0; k < a.cols(); ++k) {
        d(m, n) += static_cast<double>(a(m, k)) * static_cast<double>(w(n, k));
      }
    }
  }
  return d;
}

bool same_bits(const matrix<float>& a, const matrix<float>& b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(float)) == 0;
}

void print(const char* label, const std::vector<e4m3>& codes) {
  std::cout << label;
  for (const e4m3 code : codes) std::cout << "  " << code;
  std::cout << '\n';
}

}  // namespace

int main() {
  const matrix<float> a = noise(4, 256, 1), w = noise(8, 256, 2);
  matrix<float> d(4, 8), r(4, 8);
  const std::vector<float> bias(8, 0.5f);

  // README
  const std::vector<float> in{0.3f, -1e9f, 17.0f, 0.0001f};
  std::vector<e4m3> codes(in.size()), theirs(in.size());
  encode(in, codes);                               // to nearest even, saturating
  encode<like_ml_dtypes>(in, theirs);              // another stack's behaviour, by name
  const auto aq = quantize<e4m3, per_token>(a);    // activations 4x256: codes, and a scale for each row
  const auto wq = quantize<e4m3, per_channel>(w);  // weight 8x256
  gemm_nt(aq, pack(wq), d, {.bias = bias});        // W8A8: d = a w^T + bias
  reference::gemm_nt(aq, wq, r, {.bias = bias});   // the specification as code
  print("ofp8     ", codes);
  print("ml_dtypes", theirs);
  std::cout << "reference has the same bits: " << std::boolalpha << same_bits(d, r) << '\n';
  std::cout << "SQNR against double: " << sqnr_db(exact_product(a, w, bias), d) << " dB\n";
  // end
}
