// SPDX-License-Identifier: Apache-2.0
// ofp8: packed_weight<E, G> and packed_view<E, G>, a weight in the order in which GEMM kernels read it: once
// packed, any number of products. The first owns codes and scales, the second sees memory of the caller (a
// mapped file, a slice of an arena).
//
//   auto packed = pack(wq);                                        // packed_weight<e4m3, per_channel>
//   gemm_nt(aq, packed, d);
//   packed_view<e4m3, per_channel> mapped(bytes, n, k, scales);    // bytes that pack_into wrote
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/tensor/matrix.hpp>

namespace ofp8 {
namespace detail {

// The first 64 bytes of a packed weight, in the machine's byte order: a file of another version, format or
// shape is refused, not misread.
struct packed_header {
  char magic[4];
  std::int32_t version;
  std::int8_t exponent_bits, mantissa_bits, bias, specials;
  std::int32_t columns;
  std::int64_t n, k;
  std::byte reserved[32];
};
inline constexpr std::ptrdiff_t packed_header_bytes = packed_layout::alignment;
static_assert(sizeof(packed_header) == packed_header_bytes);

template <fp8_type E>
OFP8_INLINE constexpr packed_header packed_header_for(std::ptrdiff_t n, std::ptrdiff_t k) noexcept {
  return {.magic = {'o', 'f', 'p', '8'},
          .version = packed_layout::version,
          .exponent_bits = E::spec.exponent_bits,
          .mantissa_bits = E::spec.mantissa_bits,
          .bias = E::spec.bias,
          .specials = static_cast<std::int8_t>(E::spec.specials),
          .columns = packed_layout::columns,
          .n = n,
          .k = k,
          .reserved = {}};
}

// False where the size does not fit 63 bits.
OFP8_INLINE constexpr bool packed_size(std::ptrdiff_t n, std::ptrdiff_t k, std::ptrdiff_t& bytes) noexcept {
  constexpr std::ptrdiff_t most = PTRDIFF_MAX / packed_layout::group_bytes - 1;
  if (n < 0 || k < 0 || k > most) return false;
  return !__builtin_mul_overflow(packed_layout::panels(n), packed_layout::panel_bytes(k), &bytes) &&
         !__builtin_add_overflow(bytes, packed_header_bytes, &bytes);
}

}  // namespace detail

OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_packed_size(std::ptrdiff_t n, std::ptrdiff_t k) {
  detail::message m;
  m << "packed_bytes: " << detail::extent{n, k}
    << (n < 0 || k < 0 ? ": a size is negative" : ": the size in bytes exceeds 63 bits");
  detail::fail<shape_error>(m);
}

[[noreturn]] OFP8_COLD inline void refuse_packed_length(const char* function, std::size_t bytes,
                                                        detail::extent weight, std::size_t needed) {
  detail::message m;
  m << function << ": memory has " << std::uint64_t{bytes} << " bytes, a " << weight << " weight needs "
    << std::uint64_t{needed};
  detail::fail<shape_error>(m);
}

[[noreturn]] OFP8_COLD inline void refuse_packed_alignment(const char* function, std::uint64_t offset) {
  detail::message m;
  m << function << ": memory begins " << offset << " bytes behind a multiple of "
    << std::int64_t{packed_layout::alignment} << ": packed weights are aligned to "
    << std::int64_t{packed_layout::alignment} << " bytes";
  detail::fail<argument_error>(m);
}

[[noreturn]] OFP8_COLD inline void refuse_packed_header(const detail::packed_header& got,
                                                        const detail::packed_header& wanted) {
  detail::message m;
  m << "packed_view: ";
  if (std::memcmp(got.magic, wanted.magic, sizeof got.magic) != 0) {
    m << "the bytes are no packed weight";
  } else if (got.version != wanted.version) {
    m << "layout version is " << got.version << ", this library reads " << wanted.version;
  } else if (got.n != wanted.n || got.k != wanted.k) {
    m << "the bytes hold a "
      << detail::extent{static_cast<std::ptrdiff_t>(got.n), static_cast<std::ptrdiff_t>(got.k)}
      << " weight, a "
      << detail::extent{static_cast<std::ptrdiff_t>(wanted.n), static_cast<std::ptrdiff_t>(wanted.k)}
      << " one was asked for";
  } else {
    m << "the bytes hold codes of another format: " << int{got.exponent_bits} << " exponent and "
      << int{got.mantissa_bits} << " mantissa bits with bias " << int{got.bias} << ", asked for "
      << int{wanted.exponent_bits} << " and " << int{wanted.mantissa_bits} << " with bias "
      << int{wanted.bias};
  }
  detail::fail<argument_error>(m);
}

[[noreturn]] OFP8_COLD inline void refuse_packed_scales(detail::extent weight, detail::extent scales,
                                                        detail::extent expected) {
  detail::message m;
  m << "packed_view: the weight is " << weight << ", scales are " << scales << ": this granularity needs "
    << expected << " scales";
  detail::fail<shape_error>(m);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// Bytes that the packed form of an n x k weight takes: one per code, n rounded up to 32 and k to 2, and 64.
/// Throws shape_error when a size is negative or the bytes do not fit 63 bits.
[[nodiscard]] OFP8_INLINE constexpr std::size_t packed_bytes(std::ptrdiff_t n, std::ptrdiff_t k) {
  std::ptrdiff_t bytes = 0;
  if (!detail::packed_size(n, k, bytes)) impl::refuse_packed_size(n, k);
  return static_cast<std::size_t>(bytes);
}

namespace detail {

OFP8_INLINE void check_packed_memory(const char* function, const std::byte* data, std::size_t size,
                                     std::ptrdiff_t n, std::ptrdiff_t k) {
  const std::size_t needed = packed_bytes(n, k);
  if (size < needed) impl::refuse_packed_length(function, size, {n, k}, needed);
  const auto offset = reinterpret_cast<std::uintptr_t>(data) % packed_layout::alignment;
  if (offset != 0) impl::refuse_packed_alignment(function, offset);
}

}  // namespace detail

/// A read-only rows x cols weight (N x K) of codes E, packed, with its scales; owns neither.
template <fp8_type E, granularity G>
class packed_view {
 public:
  using code = E;
  using granularity = G;
  using scale_type = typename G::scale_type;

  /// `bytes` is what pack_into or a packed_weight wrote, aligned to 64 bytes; a longer span is fine. Throws
  /// shape_error when it is too short or the scales do not fit, argument_error when it is unaligned or holds
  /// another layout version, format or shape.
  OFP8_INLINE_MEMBER packed_view(std::span<const std::byte> bytes, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                 scale_grid<const scale_type> scales)
      : data_(bytes.data()), rows_(rows), cols_(cols), scales_(scales) {
    detail::check_packed_memory("packed_view", data_, bytes.size(), rows, cols);
    constexpr auto same = [](const detail::packed_header& a, const detail::packed_header& b) {
      return std::memcmp(&a, &b, sizeof a) == 0;
    };
    const detail::packed_header wanted = detail::packed_header_for<E>(rows, cols);
    detail::packed_header got;
    std::memcpy(&got, data_, sizeof got);
    if (!same(got, wanted)) impl::refuse_packed_header(got, wanted);
    const std::ptrdiff_t m = G::scale_rows(rows), n = G::scale_cols(cols);
    if (scales.rows() != m || scales.cols() != n)
      impl::refuse_packed_scales({rows, cols}, {scales.rows(), scales.cols()}, {m, n});
  }

  OFP8_INLINE_MEMBER std::ptrdiff_t rows() const noexcept { return rows_; }
  OFP8_INLINE_MEMBER std::ptrdiff_t cols() const noexcept { return cols_; }
  OFP8_INLINE_MEMBER scale_grid<const scale_type> scales() const noexcept { return scales_; }
  /// All of packed_bytes(rows(), cols()): what to write to a file.
  OFP8_INLINE_MEMBER std::span<const std::byte> bytes() const noexcept {
    return {data_, packed_bytes(rows_, cols_)};
  }
  /// The first panel; the next ones follow at packed_layout::panel_bytes(cols()).
  OFP8_INLINE_MEMBER const std::byte* panels() const noexcept { return data_ + detail::packed_header_bytes; }

 private:
  const std::byte* data_;
  std::ptrdiff_t rows_, cols_;
  scale_grid<const scale_type> scales_;
};

/// Owns a packed weight and its scales. Copies are deep.
template <fp8_type E, granularity G>
class packed_weight {
 public:
  using code = E;
  using granularity = G;
  using scale_type = typename G::scale_type;

  /// Takes what exists already: the bytes of a packed_view as one row, and the grid of scales. Throws what the
  /// constructor of packed_view throws.
  OFP8_INLINE_MEMBER packed_weight(matrix<std::byte> bytes, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                   matrix<scale_type> scales)
      : bytes_(std::move(bytes)), rows_(rows), cols_(cols), scales_(std::move(scales)) {
    (void)view();  // checks
  }
  OFP8_INLINE_MEMBER packed_weight(const packed_weight& other)
      : bytes_(other.bytes_), rows_(other.rows_), cols_(other.cols_), scales_(other.scales_) {}
  OFP8_INLINE_MEMBER packed_weight(packed_weight&& other) noexcept
      : bytes_(static_cast<matrix<std::byte>&&>(other.bytes_)),
        rows_(other.rows_),
        cols_(other.cols_),
        scales_(static_cast<matrix<scale_type>&&>(other.scales_)) {}
  OFP8_INLINE_MEMBER packed_weight& operator=(const packed_weight& other) {
    bytes_ = other.bytes_;
    rows_ = other.rows_;
    cols_ = other.cols_;
    scales_ = other.scales_;
    return *this;
  }
  OFP8_INLINE_MEMBER packed_weight& operator=(packed_weight&& other) noexcept {
    bytes_ = static_cast<matrix<std::byte>&&>(other.bytes_);
    rows_ = other.rows_;
    cols_ = other.cols_;
    scales_ = static_cast<matrix<scale_type>&&>(other.scales_);
    return *this;
  }
  OFP8_INLINE_MEMBER ~packed_weight() {}

  OFP8_INLINE_MEMBER std::ptrdiff_t rows() const noexcept { return rows_; }
  OFP8_INLINE_MEMBER std::ptrdiff_t cols() const noexcept { return cols_; }
  OFP8_INLINE_MEMBER scale_grid<const scale_type> scales() const& noexcept { return scales_.view(); }
  OFP8_INLINE_MEMBER packed_view<E, G> view() const& {
    return {{bytes_.data(), static_cast<std::size_t>(bytes_.cols())}, rows_, cols_, scales()};
  }
  OFP8_INLINE_MEMBER operator packed_view<E, G>() const& { return view(); }  // NOLINT: implicit
  // The memory of a temporary is gone when the view is used.
  void scales() const&& = delete;
  void view() const&& = delete;
  operator packed_view<E, G>() const&& = delete;

 private:
  matrix<std::byte> bytes_;
  std::ptrdiff_t rows_, cols_;
  matrix<scale_type> scales_;
};

template <class E, class G>
OFP8_INLINE packed_view<E, G> as_packed_view(const packed_view<E, G>& v) noexcept {
  return v;
}
template <class E, class G>
OFP8_INLINE packed_view<E, G> as_packed_view(const packed_weight<E, G>& w) {
  return w.view();
}
template <class E, class G>
void as_packed_view(const packed_weight<E, G>&&) = delete;  // a view of a temporary

/// A packed_weight, a packed_view, or a type with its own as_packed_view.
template <class X>
concept packed_operand = requires(const std::remove_reference_t<X>& x) {
  as_packed_view(x);
};

}  // namespace ofp8
