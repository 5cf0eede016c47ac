// SPDX-License-Identifier: Apache-2.0
// A trained model in FP8, measured: every linear weight per tensor, per channel and in 128x128 blocks, and the
// first layer's GEMM on real text against the product in double, with INT8 beside it.
//
//   quantize_model examples/data/tiny-llama     a folder with model.safetensors (BF16), config.json, eval.txt
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>
#include <ofp8/ofp8.hpp>

#include "quantize_model/first_layer.hpp"
#include "quantize_model/safetensors_reader.hpp"
#include "quantize_model/weight_table.hpp"

namespace {

using namespace ofp8;
using namespace example;

std::ifstream open(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  return in;
}

double rms_norm_eps(const std::string& path) {
  auto in = open(path);
  return nlohmann::json::parse(in).at("rms_norm_eps").get<double>();
}

/// The first whole line of a text that may begin in the middle of one.
std::string line_of(const std::string& path) {
  auto in = open(path);
  std::string line;
  if (!std::getline(in, line) || !std::getline(in, line) || line.empty()) {
    throw std::runtime_error(path + ": the second line is missing or empty");
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr,
                 "usage: quantize_model FOLDER    with model.safetensors, config.json and eval.txt\n");
    return 2;
  }
  const std::string folder = argv[1];
  const safetensors_file file(folder + "/model.safetensors");
  print_weights(file);
  print_first_layer(file, line_of(folder + "/eval.txt"), rms_norm_eps(folder + "/config.json"));
} catch (const std::exception& e) {
  std::fprintf(stderr, "quantize_model: %s\n", e.what());
  return 1;
}
