// SPDX-License-Identifier: Apache-2.0
// Elements that end, or begin, where the next page cannot be touched: one byte read or written beyond them ends
// the program. (Sanitizers do not see what SIMD code with masks reads.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace ofp8::test {

enum class edge { before, after };

template <class T>
class paged {
 public:
  /// `n` elements next to a forbidden page on the given side.
  paged(std::ptrdiff_t n, edge side) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<unsigned char*>(memory);
    if (inner != 0) mprotect(base_ + page, inner, PROT_READ | PROT_WRITE);
    data_ = reinterpret_cast<T*>(base_ + page + (side == edge::before ? 0 : inner - bytes));
  }
  ~paged() { munmap(base_, size_); }
  paged(const paged&) = delete;
  paged& operator=(const paged&) = delete;

  T* data() { return data_; }
  T& operator[](std::ptrdiff_t i) { return data_[i]; }

 private:
  unsigned char* base_;
  std::size_t size_;
  T* data_;
};

}  // namespace ofp8::test
