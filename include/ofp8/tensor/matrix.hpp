// SPDX-License-Identifier: Apache-2.0
// ofp8: matrix, rows x cols elements that it owns: row-major without gaps, 64-byte aligned, zero-initialised.
// It manages its memory itself, because a std::vector member would leave weak symbols compiled with the
// flags of whichever file comes first.
//
//   matrix<float> w(4096, 11008);
//   w(0, 1) = 0.5f;
//   gemm_nt(aq, wq, w);                      // wherever a matrix is asked for; w.view() is a matrix_view
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_matrix(std::ptrdiff_t rows, std::ptrdiff_t cols,
                                                 std::size_t element_size) {
  detail::message m;
  m << "matrix: " << detail::extent{rows, cols};
  if (rows < 0 || cols < 0) {
    m << ": a size is negative";
  } else {
    m << " elements of " << std::uint64_t{element_size} << " bytes: the size in bytes exceeds 63 bits";
  }
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// Owns rows x cols elements. Copies are deep; a moved-from matrix is 0 x 0. Throws shape_error when a size
/// is negative or the bytes do not fit 63 bits, std::bad_alloc when there is no memory.
template <class T>
class matrix {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);

 public:
  using element_type = T;
  using value_type = T;
  static constexpr std::size_t alignment = 64;  ///< bytes, of data()

  /// 0 x 0.
  OFP8_INLINE_MEMBER matrix() noexcept {}
  OFP8_INLINE_MEMBER matrix(std::ptrdiff_t rows, std::ptrdiff_t cols)
      : data_(allocate(rows, cols)), rows_(rows), cols_(cols) {
    if (data_ != nullptr) std::memset(static_cast<void*>(data_), 0, bytes());
  }
  OFP8_INLINE_MEMBER matrix(const matrix& other)
      : data_(allocate(other.rows_, other.cols_)), rows_(other.rows_), cols_(other.cols_) {
    copy_elements(other);
  }
  OFP8_INLINE_MEMBER matrix(matrix&& other) noexcept
      : data_(other.data_), rows_(other.rows_), cols_(other.cols_) {
    other.forget();
  }
  OFP8_INLINE_MEMBER matrix& operator=(const matrix& other) {
    if (this == &other) return *this;
    if (rows_ != other.rows_ || cols_ != other.cols_) {
      T* fresh = allocate(other.rows_, other.cols_);
      release();
      data_ = fresh;
      rows_ = other.rows_;
      cols_ = other.cols_;
    }
    copy_elements(other);
    return *this;
  }
  OFP8_INLINE_MEMBER matrix& operator=(matrix&& other) noexcept {
    if (this == &other) return *this;
    release();
    data_ = other.data_;
    rows_ = other.rows_;
    cols_ = other.cols_;
    other.forget();
    return *this;
  }
  OFP8_INLINE_MEMBER ~matrix() { release(); }

  OFP8_INLINE_MEMBER T& operator()(std::ptrdiff_t row, std::ptrdiff_t col) noexcept {
    return data_[row * cols_ + col];
  }
  OFP8_INLINE_MEMBER const T& operator()(std::ptrdiff_t row, std::ptrdiff_t col) const noexcept {
    return data_[row * cols_ + col];
  }
  OFP8_INLINE_MEMBER T* row(std::ptrdiff_t row) noexcept { return data_ + row * cols_; }
  OFP8_INLINE_MEMBER const T* row(std::ptrdiff_t row) const noexcept { return data_ + row * cols_; }
  OFP8_INLINE_MEMBER T* data() noexcept { return data_; }
  OFP8_INLINE_MEMBER const T* data() const noexcept { return data_; }
  OFP8_INLINE_MEMBER std::ptrdiff_t rows() const noexcept { return rows_; }
  OFP8_INLINE_MEMBER std::ptrdiff_t cols() const noexcept { return cols_; }
  OFP8_INLINE_MEMBER std::ptrdiff_t leading_dimension() const noexcept { return cols_; }

  OFP8_INLINE_MEMBER matrix_view<T> view() & noexcept { return {data_, rows_, cols_}; }
  OFP8_INLINE_MEMBER matrix_view<const T> view() const& noexcept { return {data_, rows_, cols_}; }
  matrix_view<T> view() && = delete;  // the memory of a temporary is gone when the view is used
  matrix_view<const T> view() const&& = delete;

 private:
  OFP8_INLINE_MEMBER static T* allocate(std::ptrdiff_t rows, std::ptrdiff_t cols) {
    std::ptrdiff_t count = 0, size = 0;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &count) ||
        __builtin_mul_overflow(count, static_cast<std::ptrdiff_t>(sizeof(T)), &size))
      impl::refuse_matrix(rows, cols, sizeof(T));
    if (size == 0) return nullptr;
    return static_cast<T*>(::operator new (static_cast<std::size_t>(size), std::align_val_t{alignment}));
  }
  OFP8_INLINE_MEMBER std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(rows_ * cols_) * sizeof(T);
  }
  OFP8_INLINE_MEMBER void copy_elements(const matrix& other) noexcept {
    if (data_ != nullptr) std::memcpy(static_cast<void*>(data_), other.data_, bytes());
  }
  OFP8_INLINE_MEMBER void release() noexcept {
    if (data_ != nullptr) ::operator delete (static_cast<void*>(data_), std::align_val_t{alignment});
  }
  OFP8_INLINE_MEMBER void forget() noexcept {
    data_ = nullptr;
    rows_ = 0;
    cols_ = 0;
  }

  T* data_ = nullptr;
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t cols_ = 0;
};

template <class T>
OFP8_INLINE matrix_view<T> as_view(matrix<T>& m) noexcept {
  return m.view();
}
template <class T>
OFP8_INLINE matrix_view<const T> as_view(const matrix<T>& m) noexcept {
  return m.view();
}
template <class T>
void as_view(const matrix<T>&&) = delete;  // a view of a temporary

namespace detail {
template <class X>
inline constexpr bool owns_elements = false;
template <class T>
inline constexpr bool owns_elements<matrix<T>> = true;
}  // namespace detail

/// What an output may be, written as `template <output_matrix D> f(D&& d)`: a matrix that outlives the call
/// (an lvalue), or any view, by value or not; its elements are not const.
template <class X>
concept output_matrix = matrix_like<X> && !std::is_const_v<element_of<X>> &&
                        (std::is_lvalue_reference_v<X> || !detail::owns_elements<std::remove_cvref_t<X>>);

}  // namespace ofp8
