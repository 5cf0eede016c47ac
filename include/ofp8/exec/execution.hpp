// SPDX-License-Identifier: Apache-2.0
// ofp8: the last argument of every operation: who runs it, on which instructions, in whose memory. All three
// have a default (serial, the fastest of this CPU, the operation's own), and none of them changes a bit of
// the result.
//
//   std::vector<std::byte> scratch(gemm_scratch_bytes(...));
//   gemm_nt(a, w, d, {}, {.executor = pool, .isa = isa::avx2, .scratch = scratch});
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <ofp8/arch/isa.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/exec/executor.hpp>

namespace ofp8 {

class scratch_ref;

namespace detail {

// A span refuses what would dangle.
template <class Bytes>
concept writable_bytes = !std::same_as<std::remove_cvref_t<Bytes>, scratch_ref> &&
                         (std::constructible_from<std::span<std::byte>, Bytes> ||
                          std::constructible_from<std::span<unsigned char>, Bytes> ||
                          std::constructible_from<std::span<char>, Bytes>);

}  // namespace detail

/// The caller's bytes, which an operation may overwrite instead of allocating its own; they must outlive the
/// call, and no two calls at the same time may share them. Any alignment. Empty by default.
class scratch_ref {
 public:
  constexpr scratch_ref() = default;
  OFP8_INLINE_MEMBER constexpr scratch_ref(std::byte* data, std::size_t bytes) noexcept
      : data_(data), size_(bytes) {}

  /// From a contiguous range of std::byte, unsigned char or char: a span, or an lvalue vector or array.
  template <detail::writable_bytes Bytes>
  OFP8_INLINE_MEMBER scratch_ref(Bytes&& bytes) noexcept
      : data_(reinterpret_cast<std::byte*>(std::data(bytes))), size_(std::size(bytes)) {}

  [[nodiscard]] OFP8_INLINE_MEMBER constexpr std::byte* data() const noexcept { return data_; }
  /// In bytes.
  [[nodiscard]] OFP8_INLINE_MEMBER constexpr std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Who runs an operation, on which instructions, in whose memory.
struct execution {
  executor_ref executor{};
  ofp8::isa isa = ofp8::isa::automatic;
  scratch_ref scratch{};
};

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// The one way in which an operation hands tasks to an executor. Each task opens its own guard, because the
// executor's threads have whatever environment they were started with; so executors need not know of it.
template <class F>
inline void for_each_task(const execution& where, std::size_t n, F&& task) {
  where.executor.parallel_for(n, [&task](std::size_t index) {
    const detail::fp_environment_guard guard;
    task(index);
  });
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
