// SPDX-License-Identifier: Apache-2.0
// Every linear weight of a checkpoint in FP8: what each granularity costs in accuracy and in bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <ofp8/ofp8.hpp>

#include "amax.hpp"
#include "safetensors_reader.hpp"

namespace example {

/// What one quantization of a weight did.
struct weight_report {
  double sqnr_db = 0;
  std::int64_t saturated = 0, flushed = 0;
  std::int64_t bytes = 0;  // codes and scales
};

template <class Granularity>
weight_report quantize_weight(const ofp8::matrix<ofp8::bf16>& w) {
  ofp8::scaled_matrix<ofp8::e4m3, Granularity> q(w.rows(), w.cols());
  ofp8::quantize_counts counts;
  ofp8::quantize_into(w, q, counts);
  const std::int64_t scales = Granularity::scale_rows(w.rows()) * Granularity::scale_cols(w.cols());
  return {.sqnr_db = ofp8::sqnr_db(w, ofp8::dequantize(q)),
          .saturated = counts.saturated,
          .flushed = counts.flushed,
          .bytes = w.rows() * w.cols() + scales * static_cast<std::int64_t>(sizeof(float))};
}

/// One line of the table: a weight, or the sum of all.
struct weight_line {
  std::string name, shape;
  double amax = 0;
  std::int64_t bytes = 0;  // as stored, in BF16
  weight_report tensor, channel, block;
};

/// Matrices that a token's activations are multiplied by: not the embedding, which is looked up.
inline bool is_linear_weight(const tensor_entry& t) {
  return t.shape.size() == 2 && t.name.ends_with(".weight") && t.name.find("embed") == std::string::npos;
}

/// model.layers.0.mlp.up_proj.weight -> layers.0.mlp.up_proj
inline std::string short_name(std::string_view name) {
  if (name.starts_with("model.")) name.remove_prefix(6);
  if (name.ends_with(".weight")) name.remove_suffix(7);
  return std::string(name);
}

inline weight_line quantize_weight(const safetensors_file& file, const tensor_entry& t) {
  const auto w = file.matrix_of<ofp8::bf16>(t);
  return {.name = short_name(t.name),
          .shape = shape_text(t.shape),
          .amax = amax_of(w.view()),
          .bytes = static_cast<std::int64_t>(t.bytes()),
          .tensor = quantize_weight<ofp8::per_tensor>(w),
          .channel = quantize_weight<ofp8::per_channel>(w),
          .block = quantize_weight<ofp8::block_wise<128, 128>>(w)};
}

inline void print_weight_line(const weight_line& l) {
  const auto number = [](std::int64_t n) { return static_cast<long long>(n); };
  std::printf(
      "%-26s %8s %8.4f %6.2f %7.2f %7.2f %4lld %4lld %4lld %5lld %5lld %5lld %8lld %8lld %8lld %8lld\n",
      l.name.c_str(), l.shape.c_str(), l.amax, l.tensor.sqnr_db, l.channel.sqnr_db, l.block.sqnr_db,
      number(l.tensor.saturated), number(l.channel.saturated), number(l.block.saturated),
      number(l.tensor.flushed), number(l.channel.flushed), number(l.block.flushed), number(l.bytes),
      number(l.tensor.bytes), number(l.channel.bytes), number(l.block.bytes));
}

/// Sums, and of the SQNRs the means.
inline weight_report total_of(const std::vector<weight_line>& lines, weight_report weight_line::*part) {
  weight_report sum;
  for (const weight_line& l : lines) {
    sum.sqnr_db += (l.*part).sqnr_db / static_cast<double>(lines.size());
    sum.saturated += (l.*part).saturated;
    sum.flushed += (l.*part).flushed;
    sum.bytes += (l.*part).bytes;
  }
  return sum;
}

inline void print_weights(const safetensors_file& file) {
  std::vector<weight_line> lines;
  for (const tensor_entry& t : file.tensors()) {
    if (is_linear_weight(t)) lines.push_back(quantize_weight(file, t));
  }
  std::printf(
      "Linear weights in E4M3, one scale per tensor (T), per output channel (C) or per 128x128 block "
      "(B)\n\n");
  std::printf("%44s %s %s %s %s\n", "", "------ SQNR, dB -----", "-- saturated -", "-- flushed to 0 -",
              "------ bytes, scales included -----");
  std::printf("%-26s %8s %8s %6s %7s %7s %4s %4s %4s %5s %5s %5s %8s %8s %8s %8s\n", "tensor", "shape",
              "amax", "T", "C", "B", "T", "C", "B", "T", "C", "B", "BF16", "T", "C", "B");
  weight_line total;
  total.name = "all: mean dB, max, sums";
  for (const weight_line& l : lines) {
    print_weight_line(l);
    total.amax = std::max(total.amax, l.amax);
    total.bytes += l.bytes;
  }
  total.tensor = total_of(lines, &weight_line::tensor);
  total.channel = total_of(lines, &weight_line::channel);
  total.block = total_of(lines, &weight_line::block);
  print_weight_line(total);
}

}  // namespace example
