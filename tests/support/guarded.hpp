// SPDX-License-Identifier: Apache-2.0
// A row of elements at a chosen misalignment with guard bytes on both sides: a kernel that writes one byte
// too many is caught (and under AddressSanitizer one that reads too far, because the memory ends there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ofp8::test {

template <class T>
class guarded_row {
 public:
  /// `offset` elements behind a multiple of 64 bytes.
  guarded_row(std::ptrdiff_t n, std::ptrdiff_t offset)
      : size_(static_cast<std::size_t>(n) * sizeof(T)),
        bytes_(2 * guard + 64 + static_cast<std::size_t>(offset) * sizeof(T) + size_, filler) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data() + guard);
    begin_ = guard + (64 - address % 64) % 64 + static_cast<std::size_t>(offset) * sizeof(T);
    bytes_.resize(begin_ + size_ + guard, filler);  // shrinks, so the address stays
  }
  guarded_row(const guarded_row&) = delete;
  guarded_row& operator=(const guarded_row&) = delete;

  T* data() { return reinterpret_cast<T*>(bytes_.data() + begin_); }
  T& operator[](std::ptrdiff_t i) { return data()[i]; }

  bool intact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < begin_ || i >= begin_ + size_) && bytes_[i] != filler) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 64;
  static constexpr unsigned char filler = 0xa5;

  std::size_t size_, begin_ = 0;
  std::vector<unsigned char> bytes_;
};

}  // namespace ofp8::test
