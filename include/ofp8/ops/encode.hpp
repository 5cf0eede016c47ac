// SPDX-License-Identifier: Apache-2.0
// ofp8: encode(in, codes): a row of float, bf16, fp16 or FP8 numbers to FP8 codes, each element as
// convert<Code, Policy>(x) would, bit for bit, on every ISA and any number of threads.
//
//   std::vector<float> in = ...;  std::vector<e4m3> codes(in.size());
//   encode(in, codes);                                             // saturating, nearest even
//   encode<like_torch>(in, codes, {.executor = pool});             // another stack's behaviour
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/range.hpp>
#include <ofp8/ops/split.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

template <class In, class E>
inline void encode_part(const codec_kernels<E>& kernels, isa, const In* x, std::ptrdiff_t n,
                        const encode_rule& rule, E* out) noexcept {
  detail::encode_kernel<In>(kernels)(x, n, rule, out);
}

// From one FP8 format to another through float, which holds every value of both.
template <fp8_type In, class E>
inline void encode_part(const codec_kernels<E>& kernels, isa id, const In* x, std::ptrdiff_t n,
                        const encode_rule& rule, E* out) noexcept {
  constexpr std::ptrdiff_t chunk = 1024;
  float wide[chunk];
  for (std::ptrdiff_t i = 0; i < n; i += chunk) {
    const std::ptrdiff_t size = n - i < chunk ? n - i : chunk;
    codec_kernels_of<In>(id).decode_f32(x + i, size, wide);
    kernels.encode_f32(wide, size, rule, out + i);
  }
}

template <class In, class E>
inline void encode_row(const In* x, std::size_t n, const encode_rule& rule, E* out, const execution& where) {
  const isa id = resolve("encode", where.isa);
  const codec_kernels<E>& kernels = codec_kernels_of<E>(id);
  const auto items = static_cast<std::ptrdiff_t>(n);
  const std::ptrdiff_t tasks = task_count(where, items, 1, (std::numeric_limits<std::ptrdiff_t>::max)());
  for_each_part(where, items, tasks, [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t last) {
    encode_part(kernels, id, x + first, last - first, rule, out + first);
  });
}

}  // namespace impl

/// out[i] = convert<Code, Policy>(in[i]) for all i. In: a contiguous range of float, bf16, fp16 or FP8 codes;
/// Out: one of FP8 codes, whose type is the target; the two do not overlap. `Policy` is a policy or a preset
/// with rounding nearest_even or toward_zero. Throws shape_error when the lengths differ, argument_error for
/// an isa that this machine lacks.
template <auto Policy = saturating, detail::number_input In, detail::code_output Out>
inline void encode(const In& in, Out&& out, const execution& where = {}) {
  using code = detail::range_element<Out>;
  constexpr policy p = detail::policy_for<typename code::format, Policy>();
  static_assert(p.rounding != rounding_mode::stochastic,
                "stochastic rounding takes its bits: convert<To, P>(x, bits, nbits), element by element");
  static_assert(detail::fits(code::spec, p), "the policy's NaN code is not a NaN of this format");
  constexpr encode_rule rule = detail::encode_rule_for(code::spec, p);

  const std::span<const detail::input_element<In>> x(in);
  const auto codes = std::span(out);
  if (x.size() != codes.size()) impl::refuse_lengths("encode", x.size(), codes.size());
  impl::encode_row(x.data(), x.size(), rule, codes.data(), where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
