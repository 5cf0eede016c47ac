// SPDX-License-Identifier: Apache-2.0
// ofp8: what bulk operations take as a row of numbers: any contiguous range (vector, array, span, C array) of
// float, bf16, fp16 or FP8 codes. An output is writable and outlives the call: an lvalue, or a span by value.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {
namespace detail {

/// float, bf16 or fp16.
template <class T>
concept wide_number = std::same_as<T, float> || fp16_type<T>;

// std::span's deduction refuses what is not contiguous, and a temporary that owns writable elements.
template <class Range>
using range_element = typename decltype(std::span(std::declval<Range>()))::element_type;
/// Of an input, which is taken as const Range&.
template <class Range>
using input_element = std::remove_const_t<range_element<const Range&>>;

template <class Range>
concept code_input = fp8_type<input_element<Range>>;
template <class Range>
concept number_input = wide_number<input_element<Range>> || code_input<Range>;
template <class Range>
concept wide_output = wide_number<range_element<Range>>;
template <class Range>
concept code_output = fp8_type<range_element<Range>>;

}  // namespace detail

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_lengths(const char* function, std::size_t in, std::size_t out) {
  detail::message m;
  m << function << ": in has " << std::uint64_t{in} << " elements, out has " << std::uint64_t{out}
    << ": lengths differ";
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
