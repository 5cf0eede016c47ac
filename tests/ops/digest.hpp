// SPDX-License-Identifier: Apache-2.0
// One number for the bytes that the operations return for fixed inputs, so that files compiled with other
// flags and by other compilers can be compared with each other: the expected numbers are literals.
#pragma once

#include <ofp8/ofp8.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

namespace ofp8::test {

/// FNV-1a, 64 bits.
class digest {
 public:
  template <class T>
  void add(const T& value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (unsigned char b : bytes) state_ = (state_ ^ b) * 0x0000'0100'0000'01b3u;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf2'9ce4'8422'2325u;
};

inline matrix<float> digest_input() {
  const std::vector<std::uint32_t> bits = stratified_floats();
  matrix<float> x(40, 1024);
  for (std::ptrdiff_t i = 0; i < 40 * 1024; ++i)  // neighbours in a row are far apart in size
    x(i / 1024, i % 1024) = float_of(bits[static_cast<std::size_t>(i * 3571 % (40 * 1024))]);
  return x;
}

/// encode under every preset, decode.
inline std::uint64_t codec_digest(isa i) {
  const matrix<float> x = digest_input();
  const std::span<const float> in(x.data(), 40 * 1024);
  digest d;
  for_each_fp8([&]<class E>(E) {
    std::vector<E> codes(in.size());
    for_each_preset([&](const auto& preset) {
      encode<std::remove_cvref_t<decltype(preset)>::value>(in, codes, {.isa = i});
      for (E c : codes) d.add(c);
    });
    std::vector<float> values(codes.size());
    std::vector<fp16> halves(codes.size());
    decode(codes, values, {.isa = i});
    decode(codes, halves, {.isa = i});
    for (float v : values) d.add(v);
    for (fp16 v : halves) d.add(v);
  });
  return d.value();
}

/// quantize by several recipes and granularities, dequantize.
inline std::uint64_t quantize_digest(isa i) {
  matrix<float> x = digest_input();
  // A third of the rows keeps its infinities and NaN; the rest becomes ordinary numbers.
  for (std::ptrdiff_t r = 0; r < x.rows(); ++r) {
    if (r % 3 == 0) continue;
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c)
      x(r, c) = float_of((bits_of_float(x(r, c)) & 0x87ff'ffff) | 0x3800'0000);
  }
  matrix<bf16> h(x.rows(), x.cols());
  for (std::ptrdiff_t r = 0; r < x.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c) h(r, c) = convert<bf16>(x(r, c));

  digest d;
  const auto add = [&](const auto& q) {
    for (std::ptrdiff_t a = 0; a < q.scales().rows(); ++a)
      for (std::ptrdiff_t b = 0; b < q.scales().cols(); ++b) d.add(q.scales()(a, b));
    for (std::ptrdiff_t r = 0; r < q.rows(); ++r)
      for (std::ptrdiff_t c = 0; c < q.cols(); ++c) d.add(q.codes()(r, c));
    const matrix<float> values = dequantize(q, {.isa = i});
    const matrix<bf16> halves = dequantize<bf16>(q, {.isa = i});
    for (std::ptrdiff_t r = 0; r < q.rows(); ++r) {
      for (std::ptrdiff_t c = 0; c < q.cols(); ++c) {
        d.add(values(r, c));
        d.add(halves(r, c));
      }
    }
  };
  for (const recipe& how : {recipes::standard, recipes::vllm_token_cuda, recipes::llm_compressor}) {
    add(quantize<e4m3, per_token>(x, how, {.isa = i}));
    add(quantize<e5m2, per_group<64>>(x, how, {.isa = i}));
    add(quantize<e4m3, per_group<64>>(h, how, {.isa = i}));
    add(quantize<e4m3fnuz, per_tensor>(h, static_scale(0.7f), how, {.isa = i}));
  }
  add(quantize<e4m3, mx<32>>(x, {}, {.isa = i}));
  add(quantize<e4m3, mx<32>>(x, recipes::ocp_mx, {.isa = i}));
  add(quantize<e4m3, block_wise<16, 128>>(x, recipes::deepseek_v3, {.isa = i}));
  add(quantize<e4m3, per_tensor>(x, static_scale(0.7f), recipes::vllm_tensor_static, {.isa = i}));
  return d.value();
}

/// The metrics' own numbers, all of exact inputs.
inline std::uint64_t metrics_digest() {
  const matrix<float> x = digest_input();
  std::vector<float> r, a;
  for (std::ptrdiff_t k = 0; k < 1024; ++k) {
    r.push_back(float_of((bits_of_float(x(0, k)) & 0x83ff'ffff) | 0x3c00'0000));
    a.push_back(static_cast<float>(convert<e4m3>(r.back())));
  }
  digest d;
  d.add(max_abs_error(r, a));
  d.add(mean_abs_error(r, a));
  d.add(cosine_similarity(r, a));
  d.add(cosine_similarity(std::vector<float>{0},
                          a.front() < 0 ? std::vector<float>{1} : std::vector<float>{2}));
  d.add(sqnr_db(r, r));                                          // infinity
  d.add(sqnr_db(std::vector<float>{0}, std::vector<float>{2}));  // -infinity
  r[7] = float_of(0x7fc0'0000);
  d.add((bits_of_double(max_abs_error(r, a)) << 1) > 0xffe0'0000'0000'0000u);  // NaN
  d.add((bits_of_double(sqnr_db(r, a)) << 1) > 0xffe0'0000'0000'0000u);
  return d.value();
}

inline constexpr std::uint64_t expected_codec_digest = 14704502267619405189u;
inline constexpr std::uint64_t expected_quantize_digest = 12352239467701715594u;
inline constexpr std::uint64_t expected_metrics_digest = 8876636369499021834u;

}  // namespace ofp8::test
