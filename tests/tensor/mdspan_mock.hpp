// SPDX-License-Identifier: Apache-2.0
// The face of std::mdspan, in the few lines that as_view looks at: any strides, any rank, any accessor.
#pragma once

#include <array>
#include <cstddef>

namespace ofp8::test {

/// Layout and strides are run-time values here; `Index` and `Reference` play the parts of index_type and the
/// accessor's reference.
template <class T, std::size_t Rank, class Index = int, class Reference = T&>
struct mdspan_mock {
  using element_type = T;
  using index_type = Index;
  using reference = Reference;

  T* pointer = nullptr;
  std::array<Index, Rank> extents{}, strides{};
  bool strided = true;

  static constexpr std::size_t rank() noexcept { return Rank; }
  constexpr T* data_handle() const noexcept { return pointer; }
  constexpr Index extent(std::size_t r) const noexcept { return extents[r]; }
  constexpr Index stride(std::size_t r) const noexcept { return strides[r]; }
  constexpr bool is_strided() const noexcept { return strided; }
};

template <class T>
constexpr mdspan_mock<T, 2> layout_right(T* data, int rows, int cols) {
  return {data, {rows, cols}, {cols, 1}};
}
template <class T>
constexpr mdspan_mock<T, 2> layout_left(T* data, int rows, int cols) {
  return {data, {rows, cols}, {1, rows}};
}

}  // namespace ofp8::test
