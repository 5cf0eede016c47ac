// SPDX-License-Identifier: Apache-2.0
// ofp8: as_codes, raw bytes (a mapped file, a tensor of another library) seen as FP8 codes or e8m0 scales,
// without a copy.
//
//   auto raw = as_codes<e4m3>(bytes);                              // span<const std::byte> -> span<const
//   e4m3> matrix_view<const e4m3> w(raw.data(), rows, cols);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <ofp8/core/config.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {
namespace detail {

template <class T>
concept byte_type =
    std::same_as<std::remove_cv_t<T>, std::byte> || std::same_as<std::remove_cv_t<T>, std::uint8_t>;

template <class Range>
using span_element = typename decltype(std::span(std::declval<Range>()))::element_type;

}  // namespace detail

/// The bytes of a contiguous range of std::byte or std::uint8_t as codes, one a byte; writable where the
/// range is. Every byte is a valid code.
template <class Code, class Bytes>
requires(fp8_type<Code> || std::same_as<Code, e8m0>) && detail::byte_type<detail::span_element<Bytes>>  //
    OFP8_INLINE auto as_codes(Bytes&& bytes) noexcept {
  const auto span = std::span(std::forward<Bytes>(bytes));
  using code = std::conditional_t<std::is_const_v<detail::span_element<Bytes>>, const Code, Code>;
  return std::span<code>(reinterpret_cast<code*>(span.data()), span.size());
}

}  // namespace ofp8
