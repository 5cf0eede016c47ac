// SPDX-License-Identifier: Apache-2.0
// quantize_into: a matrix of K = 4096 to codes and scales, without allocation, from each level of memory.
#include <ofp8/ops/quantize.hpp>

#include <string>

#include "ceilings/cpu.hpp"
#include "harness/measurement.hpp"
#include "harness/runners.hpp"
#include "harness/samples.hpp"

namespace ofp8::bench {
namespace {

constexpr std::ptrdiff_t depth = 4096;

template <class In>
constexpr traffic quantize_traffic = sizeof(In) == 4 ? traffic::read4_write1 : traffic::read2_write1;

// As many rows as fit the level; at least one block of them.
template <class In>
std::ptrdiff_t rows_in(memory_level level, std::ptrdiff_t block_rows) {
  const auto row_bytes = static_cast<std::size_t>(depth) * (sizeof(In) + 1);
  const auto fitting = static_cast<std::ptrdiff_t>(working_set(level) / row_bytes);
  return std::max(fitting / block_rows * block_rows, block_rows);
}

// How a matrix becomes codes: what the benchmarks differ in.
struct by_recipe {
  template <class X, class Q>
  void operator()(const X& x, Q& q, const execution& how) const {
    quantize_into(x, q, recipe{}, how);
  }
};
struct by_static_multiply {
  template <class X, class Q>
  void operator()(const X& x, Q& q, const execution& how) const {
    quantize_into(x, q, static_scale(0.01f), recipes::vllm_tensor_static, how);
  }
};
struct by_static_division {
  template <class X, class Q>
  void operator()(const X& x, Q& q, const execution& how) const {
    quantize_into(x, q, static_scale(0.01f), recipe{}, how);
  }
};

template <class In, class G, class How>
void add(const std::string& kind, std::ptrdiff_t block_rows) {
  for (memory_level level : memory_levels) {
    const std::ptrdiff_t rows = rows_in<In>(level, block_rows);
    if (level < memory_level::l3 && block_rows > 1 && rows == block_rows) continue;  // too big for the level
    register_for_runners("quantize/" + kind + "/" + name(level),
                         [rows](benchmark::State& state, const runner& who) {
                           const matrix<In> x = normal_matrix<In>(rows * who.threads, depth);
                           scaled_matrix<e4m3, G> q(x.rows(), x.cols());
                           measurement m(state, who.threads, [&] { How{}(x, q, who.how); });
                           const auto n = static_cast<std::size_t>(x.rows() * x.cols());
                           m.elements(n);
                           m.bytes(n * (sizeof(In) + 1), quantize_traffic<In>);
                         });
  }
}

const at_start registered([] {
  add<float, per_tensor, by_static_multiply>("per_tensor_static_multiply_f32", 1);
  add<float, per_tensor, by_static_division>("per_tensor_static_f32", 1);
  add<float, per_token, by_recipe>("per_token_f32", 1);
  add<bf16, per_token, by_recipe>("per_token_bf16", 1);
  add<float, per_group<128>, by_recipe>("1x128_f32", 1);
  add<float, block_wise<128, 128>, by_recipe>("128x128_f32", 128);
});

}  // namespace
}  // namespace ofp8::bench
