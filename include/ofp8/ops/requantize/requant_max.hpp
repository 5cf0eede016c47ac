// SPDX-License-Identifier: Apache-2.0
// ofp8: requant_max, the shards of a fused weight (q, k, v; gate, up), each with a scale of its own, stacked
// into one matrix with one scale: the largest.
//
//   auto qkv = requant_max<e4m3>({q.view(), k.view(), v.view()});       // scaled_matrix<e4m3, per_tensor>
//   auto as_vllm = requant_max<e4m3>({q.view(), k.view(), v.view()}, {.arithmetic = requant_arithmetic::through_fp16});
//
// A shard whose scale is the largest, or a power of two below it with every code still exact, loses nothing;
// any other is rounded a second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/dequantize.hpp>
#include <ofp8/ops/metrics.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/ops/requantize/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/scale/slice.hpp>
#include <ofp8/scale/static_scale.hpp>

namespace ofp8 {

enum class requant_arithmetic : std::uint8_t {
  /// code' = convert(fl32(code * s) / S), exact where powers of two allow it.
  float32,
  /// vLLM's requantize_with_max_scale: x = fp16(code * s), code' = convert(clamp(x * fl(1 / S))). Products below
  /// 2^-14 lose bits, those beyond 65504 overflow.
  through_fp16,
  /// The same with s rounded to fp16 before the product. torch casts a one-element float32 tensor to the other
  /// operand's fp16 when both are on the GPU, and keeps it in float32 on the CPU.
  through_fp16_scale
};

struct requant_options {
  requant_arithmetic arithmetic = requant_arithmetic::float32;
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

template <fp8_type E>
using shard_view = scaled_view<const E, per_tensor>;

[[noreturn]] OFP8_COLD inline void refuse_shard(std::size_t index, detail::extent shard,
                                                detail::extent first) {
  detail::message m;
  m << "requant_max: shard 0 is " << first << ", shard " << std::uint64_t{index} << " is " << shard
    << ": columns differ";
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_shard_scale(std::size_t index, float scale) {
  detail::message m;
  m << "requant_max: shard " << std::uint64_t{index} << " has scale " << static_cast<double>(scale)
    << ": it must be finite and positive";
  detail::fail<argument_error>(m);
}

/// Checks the shards and returns their rows together and the largest scale (1 where there are no rows).
template <fp8_type E>
inline float largest_shard_scale(std::span<const shard_view<E>> shards, std::ptrdiff_t& rows) {
  float largest = 0.0f;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const shard_view<E>& s = shards[i];
    if (s.cols() != shards[0].cols())
      refuse_shard(i, {s.rows(), s.cols()}, {shards[0].rows(), shards[0].cols()});
    if (s.rows() == 0) continue;  // nobody has computed its scale
    const float scale = s.scales()(0, 0);
    if (!detail::is_finite_and_positive(scale)) refuse_shard_scale(i, scale);
    if (detail::bits_of(scale) > detail::bits_of(largest)) largest = scale;
    rows += s.rows();
  }
  return rows == 0 ? 1.0f : largest;
}

template <fp8_type E>
inline void requantize_shard_fp16(const shard_view<E>& shard, const scaled_view<E, per_tensor>& out,
                                  float largest, requant_arithmetic arithmetic, quantize_counts& counts,
                                  const execution& where) {
  float s = shard.scales()(0, 0);
  if (arithmetic == requant_arithmetic::through_fp16_scale) s = static_cast<float>(convert<fp16>(s));
  const scaled_view<const E, per_tensor> as_seen(shard.codes(), scale_grid<const float>(&s, 1, 1));
  const matrix<fp16> x = dequantize<fp16>(as_seen, where);
  quantize_into(x, out, static_scale(largest), counts, recipes::vllm_tensor_static, where);
}

template <fp8_type E>
inline scaled_matrix<E, per_tensor> requant_max(std::span<const shard_view<E>> shards,
                                                requantize_report* report, const requant_options& options,
                                                const execution& where) {
  std::ptrdiff_t total = 0;
  const float largest = largest_shard_scale(shards, total);
  scaled_matrix<E, per_tensor> out(total, shards.empty() ? 0 : shards[0].cols());
  matrix<float> before(report != nullptr ? out.rows() : 0, report != nullptr ? out.cols() : 0);
  requantize_report sum;
  sum.blocks = 0;
  const static_scale scale(largest);
  std::ptrdiff_t first = 0;
  for (const shard_view<E>& shard : shards) {
    if (shard.rows() == 0) continue;
    const scaled_view<E, per_tensor> part = ofp8::rows(out, first, shard.rows());
    requantize_report one;
    if (options.arithmetic == requant_arithmetic::float32) {
      requantize_into("requant_max", shard, part, &scale, &one, recipe{}, where);
    } else {
      requantize_shard_fp16(shard, part, largest, options.arithmetic, one.counts, where);
      one.blocks = 1;
    }
    if (report != nullptr)
      dequantize_into(shard, matrix_view<float>(before.row(first), shard.rows(), before.cols()), where);
    sum.blocks += one.blocks;
    sum.lossless_blocks += one.lossless_blocks;
    sum.counts += one.counts;
    first += shard.rows();
  }
  out.scales()(0, 0) = largest;
  if (report == nullptr) return out;
  if (sum.lossless_blocks != sum.blocks) {
    const matrix<float> after = dequantize(out, where);
    sum.sqnr_db = sqnr_db(before, after);
    sum.max_abs_error = max_abs_error(before, after);
  }
  *report = sum;
  return out;
}

}  // namespace impl

/// The shards' rows one after the other, with the largest of their scales (those without rows left out).
/// Throws shape_error when their columns differ, argument_error for a scale that is not finite and positive.
template <fp8_type E>
[[nodiscard]] inline scaled_matrix<E, per_tensor> requant_max(
    std::span<const scaled_view<const E, per_tensor>> shards, const requant_options& options = {},
    const execution& where = {}) {
  return impl::requant_max<E>(shards, nullptr, options, where);
}
/// The same, and says what it cost; report.blocks counts shards.
template <fp8_type E>
[[nodiscard]] inline scaled_matrix<E, per_tensor> requant_max(
    std::span<const scaled_view<const E, per_tensor>> shards, requantize_report& report,
    const requant_options& options = {}, const execution& where = {}) {
  return impl::requant_max<E>(shards, &report, options, where);
}
template <fp8_type E>
[[nodiscard]] inline scaled_matrix<E, per_tensor> requant_max(
    std::initializer_list<scaled_view<const E, per_tensor>> shards, const requant_options& options = {},
    const execution& where = {}) {
  return impl::requant_max<E>({shards.begin(), shards.size()}, nullptr, options, where);
}
template <fp8_type E>
[[nodiscard]] inline scaled_matrix<E, per_tensor> requant_max(
    std::initializer_list<scaled_view<const E, per_tensor>> shards, requantize_report& report,
    const requant_options& options = {}, const execution& where = {}) {
  return impl::requant_max<E>({shards.begin(), shards.size()}, &report, options, where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
