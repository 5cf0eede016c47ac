// SPDX-License-Identifier: Apache-2.0
// ofp8: decode(codes, out): a row of FP8 codes to float, bf16 or fp16, exact. NaN codes become
// sign | 7fc00000 (7fc0, 7e00), infinities stay infinities.
//
//   std::vector<float> out(codes.size());
//   decode(codes, out);
//   decode(as_codes<e4m3>(bytes), out, {.executor = pool});
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/range.hpp>
#include <ofp8/ops/split.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

template <class E, class Out>
inline void decode_row(const E* codes, std::size_t n, Out* out, const execution& where) {
  const auto kernel = detail::decode_kernel<Out>(codec_kernels_of<E>(resolve("decode", where.isa)));
  const auto items = static_cast<std::ptrdiff_t>(n);
  const std::ptrdiff_t tasks = task_count(where, items, 1, (std::numeric_limits<std::ptrdiff_t>::max)());
  for_each_part(where, items, tasks, [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t last) {
    kernel(codes + first, last - first, out + first);
  });
}

}  // namespace impl

/// out[i] = the value of in[i], exactly. In: a contiguous range of FP8 codes; Out: one of float, bf16 or
/// fp16; the two do not overlap. Throws shape_error when the lengths differ, argument_error for an isa that
/// this machine lacks.
template <detail::code_input In, detail::wide_output Out>
inline void decode(const In& in, Out&& out, const execution& where = {}) {
  const std::span<const detail::input_element<In>> codes(in);
  const auto values = std::span(out);
  if (codes.size() != values.size()) impl::refuse_lengths("decode", codes.size(), values.size());
  impl::decode_row(codes.data(), codes.size(), values.data(), where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
