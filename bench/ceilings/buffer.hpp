// SPDX-License-Identifier: Apache-2.0
// Memory for measurements: on huge pages where the system has them, so that page walks do not blur the
// bandwidth, and written once, so that no page fault falls into a timed loop.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace ofp8::bench {

/// A fixed contiguous range of T (not constructed: every byte is 01, a small normal float).
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit buffer(std::size_t size) : size_(size) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    const std::size_t wanted = size * sizeof(T);
    const std::size_t alignment = wanted >= huge_page ? huge_page : 4096;
    const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes > 0 ? bytes : alignment)));
    if (data_ == nullptr) throw std::bad_alloc();
    if (wanted >= huge_page) madvise(data_.get(), bytes, MADV_HUGEPAGE);  // advice: refusal does no harm
    std::memset(static_cast<void*>(data_.get()), 1, bytes);
  }

  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  T* begin() noexcept { return data_.get(); }
  T* end() noexcept { return data_.get() + size_; }
  const T* begin() const noexcept { return data_.get(); }
  const T* end() const noexcept { return data_.get() + size_; }
  T& operator[](std::size_t i) noexcept { return data_.get()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }

 private:
  struct release {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T, release> data_;
  std::size_t size_;
};

}  // namespace ofp8::bench
