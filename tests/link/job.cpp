// SPDX-License-Identifier: Apache-2.0
// One small job through every algorithm of the library. The link test builds this file twice, for the
// baseline and for AVX-512, and puts both objects into one program.
#include <ofp8/ofp8.hpp>

#include <ofp8/exec/thread_pool.hpp>

#include <cstring>
#include <span>

#include "job.hpp"

namespace {

using namespace ofp8;

matrix<float> numbers(std::ptrdiff_t rows, std::ptrdiff_t cols, unsigned seed) {
  matrix<float> m(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for (std::ptrdiff_t c = 0; c < cols; ++c) {
      seed = seed * 1664525u + 1013904223u;
      m(r, c) = static_cast<float>(static_cast<int>(seed >> 8) % 2001 - 1000) * 0.001f;
    }
  }
  return m;
}

template <class T>
void append(job_bytes& bytes, const T* first, std::ptrdiff_t count) {
  std::memcpy(bytes.data + bytes.size, first, static_cast<std::size_t>(count) * sizeof(T));
  bytes.size += static_cast<std::size_t>(count) * sizeof(T);
}

template <class T>
void append(job_bytes& bytes, const matrix<T>& m) {
  append(bytes, m.data(), m.rows() * m.cols());
}

template <class T>
std::span<T> elements(matrix<T>& m) {
  return {m.data(), static_cast<std::size_t>(m.rows() * m.cols())};
}

template <class Activation, class Weight>
void multiply(job_bytes& bytes, const Activation& a, const Weight& w, thread_pool& pool) {
  matrix<float> d(a.rows(), w.rows()), bias = numbers(1, w.rows(), 3);
  gemm_nt(a, w, d, {.bias = elements(bias)});
  append(bytes, d);
  gemm_nt(a, pack(w), d, {}, {.executor = pool});
  append(bytes, d);
}

}  // namespace

void OFP8_JOB(job_bytes& bytes) {
  const matrix<float> w = numbers(19, 67, 2);
  matrix<float> a = numbers(5, 67, 1), decoded(5, 67);
  matrix<e4m3> codes(5, 67);
  encode(elements(a), elements(codes));
  append(bytes, codes);
  decode(elements(codes), elements(decoded));
  append(bytes, decoded);

  thread_pool pool(2);
  const auto channels = quantize<e4m3, per_channel>(w);
  const auto blocks = quantize<e5m2, block_wise<16, 16>>(w);
  append(bytes, dequantize(channels));
  multiply(bytes, quantize<e4m3, per_token>(a), channels, pool);
  multiply(bytes, quantize<e4m3, per_group<16>>(a), blocks, pool);
  multiply(bytes, a, channels, pool);
}

bool OFP8_REFUSES() {
  matrix<float> a(2, 3), w(4, 5), d(2, 4);
  try {
    gemm_nt(quantize<e4m3, per_tensor>(a), quantize<e4m3, per_tensor>(w), d);
  } catch (const shape_error&) {
    return true;
  }
  return false;
}
