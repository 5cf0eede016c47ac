// SPDX-License-Identifier: Apache-2.0
// The first projection of a Llama on real text: what its input looks like, and how far a quantized GEMM is from
// the product in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <ofp8/ofp8.hpp>
#include <ofp8/reference/int8.hpp>

#include "amax.hpp"
#include "safetensors_reader.hpp"

namespace example {

/// The input of layer 0's projections for a text, one row a byte: the embedding row through the layer's RMS
/// norm. Rounded to BF16 where a BF16 model rounds: after the normalization and after the product with the
/// norm's weight.
inline ofp8::matrix<ofp8::bf16> first_layer_input(const safetensors_file& file, std::string_view text,
                                                  double eps) {
  const auto embedding = file.matrix_of<ofp8::bf16>(file.at("model.embed_tokens.weight"));
  const auto weight = file.matrix_of<ofp8::bf16>(file.at("model.layers.0.input_layernorm.weight"));
  const std::ptrdiff_t hidden = embedding.cols();
  ofp8::matrix<ofp8::bf16> x(static_cast<std::ptrdiff_t>(text.size()), hidden);
  for (std::ptrdiff_t m = 0; m < x.rows(); ++m) {
    const std::ptrdiff_t token = static_cast<unsigned char>(text[static_cast<std::size_t>(m)]);
    double squares = 0;
    for (std::ptrdiff_t k = 0; k < hidden; ++k) {
      const double e = static_cast<double>(embedding(token, k));
      squares += e * e;
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(hidden) + eps);
    for (std::ptrdiff_t k = 0; k < hidden; ++k) {
      const auto normalized = ofp8::convert<ofp8::bf16>(static_cast<double>(embedding(token, k)) * scale);
      x(m, k) = ofp8::convert<ofp8::bf16>(static_cast<float>(normalized) * static_cast<float>(weight(0, k)));
    }
  }
  return x;
}

/// sum_k a[m,k] w[n,k] in double.
inline ofp8::matrix<double> exact_product(const ofp8::matrix<ofp8::bf16>& a,
                                          const ofp8::matrix<ofp8::bf16>& w) {
  ofp8::matrix<double> d(a.rows(), w.rows());
  for (std::ptrdiff_t m = 0; m < d.rows(); ++m) {
    for (std::ptrdiff_t n = 0; n < d.cols(); ++n) {
      for (std::ptrdiff_t k = 0; k < a.cols(); ++k) {
        d(m, n) += static_cast<double>(a(m, k)) * static_cast<double>(w(n, k));
      }
    }
  }
  return d;
}

/// One product of the table against the exact one.
class product_table {
 public:
  product_table(const ofp8::matrix<ofp8::bf16>& a, const ofp8::matrix<ofp8::bf16>& w)
      : a_(a), w_(w), exact_(exact_product(a, w)) {
    std::printf("%-6s %-14s %-19s %10s %10s %12s %12s\n", "", "activations", "weight", "SQNR dB", "cosine",
                "max |error|", "mean |error|");
  }

  /// W8A8 in FP8.
  template <class Activations, class Weight>
  void fp8(const char* activations, const char* weight) {
    const auto aq = ofp8::quantize<ofp8::e4m3, Activations>(a_);
    const auto wq = ofp8::quantize<ofp8::e4m3, Weight>(w_);
    ofp8::gemm_nt(aq, wq, d_);
    print("FP8", activations, weight);
  }

  /// W8A16: BF16 activations by an FP8 weight.
  template <class Weight>
  void fp8_weight_only(const char* weight) {
    ofp8::gemm_nt(a_, ofp8::quantize<ofp8::e4m3, Weight>(w_), d_);
    print("W8A16", "BF16", weight);
  }

  /// W8A8 in symmetric INT8.
  template <class Activations, class Weight>
  void int8(const char* activations, const char* weight) {
    const auto aq = ofp8::reference::quantize_int8<Activations>(a_);
    const auto wq = ofp8::reference::quantize_int8<Weight>(w_);
    ofp8::reference::gemm_nt_int8(aq, wq, d_);
    print("INT8", activations, weight);
  }

 private:
  void print(const char* kind, const char* activations, const char* weight) const {
    std::printf("%-6s %-14s %-19s %10.2f %10.6f %12.5f %12.5f\n", kind, activations, weight,
                ofp8::sqnr_db(exact_, d_), ofp8::cosine_similarity(exact_, d_),
                ofp8::max_abs_error(exact_, d_), ofp8::mean_abs_error(exact_, d_));
  }

  const ofp8::matrix<ofp8::bf16>&a_, &w_;
  ofp8::matrix<double> exact_;
  ofp8::matrix<float> d_{a_.rows(), w_.rows()};
};

/// How far apart the tokens are: the reason for a scale per token.
inline void print_row_amax(const ofp8::matrix<ofp8::bf16>& a) {
  double smallest = 0, largest = 0;
  for (std::ptrdiff_t m = 0; m < a.rows(); ++m) {
    const double amax = amax_of({&a(m, 0), 1, a.cols()});
    smallest = m == 0 ? amax : std::min(smallest, amax);
    largest = std::max(largest, amax);
  }
  std::printf("input after the RMS norm: amax of a token's row from %.2f to %.2f\n\n", smallest, largest);
}

/// Layer 0's q_proj on a line of text, for each activation granularity with the weight granularity that goes
/// with it.
inline void print_first_layer(const safetensors_file& file, const std::string& line, double eps) {
  using namespace ofp8;
  const char* name = "model.layers.0.self_attn.q_proj.weight";
  const auto w = file.matrix_of<bf16>(file.at(name));
  const auto a = first_layer_input(file, line, eps);
  std::printf("\n%s on %lld tokens of real text, against the product in double\n", name,
              static_cast<long long>(a.rows()));
  std::printf("\"%.60s...\"\n", line.c_str());
  print_row_amax(a);

  product_table table(a, w);
  table.fp8<per_tensor, per_tensor>("per_tensor", "per_tensor");
  table.fp8<per_token, per_channel>("per_token", "per_channel");
  table.fp8<per_group<128>, block_wise<128, 128>>("per_group<128>", "block_wise<128,128>");
  table.int8<per_tensor, per_tensor>("per_tensor", "per_tensor");
  table.int8<per_token, per_channel>("per_token", "per_channel");
  table.int8<per_group<128>, block_wise<128, 128>>("per_group<128>", "block_wise<128,128>");
  table.fp8_weight_only<per_tensor>("per_tensor");
  table.fp8_weight_only<per_channel>("per_channel");
  table.fp8_weight_only<block_wise<128, 128>>("block_wise<128,128>");
}

}  // namespace example
