// SPDX-License-Identifier: Apache-2.0
// How wrong is a tensor core? The error of Hopper's FP8 accumulation against the exact sum, for K = 128 .. 16384: one
// chain over all of K ("fast accumulation"), and a new chain every 128 ("promoted"), beside FP32. Random signs lose a
// little precision; data of one sign, such as attention weights or activations after a ReLU, lose several percent.
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/exact.hpp>
#include <ofp8/reference/tensor_core.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

using namespace ofp8;
namespace tc = reference::tensor_core;

namespace {

constexpr std::ptrdiff_t side = 16;

// Sixteen bytes of a linear congruential generator, added: nearly Gaussian, the same on every machine.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  float gaussian() {
    int sum = -16 * 255 / 2;
    for (int i = 0; i < 16; ++i) sum += static_cast<int>(next() & 0xff);
    return static_cast<float>(sum) / 295.0f;  // 295 = sqrt(16 * (256^2 - 1) / 12): unit variance
  }
  float uniform() { return static_cast<float>(next() >> 8 & 0xffff) / 65536.0f; }

 private:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::uint64_t state_;
};

matrix<float> data(std::ptrdiff_t k, bool one_sign, std::uint64_t seed) {
  generator random(seed);
  matrix<float> m(side, k);
  for (std::ptrdiff_t r = 0; r < side; ++r)
    for (std::ptrdiff_t c = 0; c < k; ++c) m(r, c) = one_sign ? random.uniform() : random.gaussian();
  return m;
}

struct errors {
  double rms = 0;   // of the error, over the rms of the outputs
  double bias = 0;  // mean of (result - exact), over the mean of the outputs' magnitudes
};

errors errors_of(const matrix<float>& d, const matrix<double>& exact) {
  double squares = 0, exact_squares = 0, sum = 0, exact_sum = 0;
  for (std::ptrdiff_t m = 0; m < side; ++m) {
    for (std::ptrdiff_t n = 0; n < side; ++n) {
      const double error = static_cast<double>(d(m, n)) - exact(m, n);
      squares += error * error;
      exact_squares += exact(m, n) * exact(m, n);
      sum += error;
      exact_sum += std::abs(exact(m, n));
    }
  }
  return {std::sqrt(squares / exact_squares), sum / exact_sum};
}

void print_table(const char* title, bool one_sign) {
  std::printf("%s\n      K   fast: rms      bias   promoted: rms      bias   FP32: rms\n", title);
  for (std::ptrdiff_t k = 128; k <= 16384; k *= 2) {
    const auto a = quantize<e4m3, per_tensor>(data(k, one_sign, 1));
    const auto b = quantize<e4m3, per_tensor>(data(k, one_sign, 2));
    matrix<double> exact(side, side);
    matrix<float> fast(side, side), promoted(side, side), fp32(side, side);
    reference::gemm_nt_exact(a, b, exact);
    tc::gemm_nt<tc::hopper>(a, b, fast, tc::accumulation::fast);
    tc::gemm_nt<tc::hopper>(a, b, promoted, tc::accumulation::promoted);
    gemm_nt(a, b, fp32);
    const errors f = errors_of(fast, exact), p = errors_of(promoted, exact), s = errors_of(fp32, exact);
    std::printf("%7td   %9.1e  %7.3f%%   %13.1e  %7.3f%%   %9.1e\n", k, f.rms, 100 * f.bias, p.rms,
                100 * p.bias, s.rms);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("E4M3 x E4M3, per-tensor scales, %td x %td outputs; Hopper wgmma as modelled bit for bit.\n\n",
              side, side);
  print_table("Gaussian data (random signs)", false);
  print_table("Uniform data in 0 .. 1 (one sign)", true);
}
