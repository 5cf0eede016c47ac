// SPDX-License-Identifier: Apache-2.0
// Only what has two dimensions is a matrix.
// EXPECT-ERROR: no matching function for call to
#include <array>
#include <cstddef>

#include <ofp8/tensor/matrix_view.hpp>

template <std::size_t Rank>
struct span_mock {
  using element_type = float;
  using reference = float&;
  float* pointer;
  static constexpr std::size_t rank() { return Rank; }
  float* data_handle() const { return pointer; }
  std::size_t extent(std::size_t) const { return 1; }
  std::size_t stride(std::size_t) const { return 1; }
};

int main() {
  float x = 2.0f;
  float seen = ofp8::as_view(span_mock<2>{&x})(0, 0);
#ifdef OFP8_BREAK
  seen = ofp8::as_view(span_mock<3>{&x})(0, 0);
#endif
  return seen == 2.0f ? 0 : 1;
}
