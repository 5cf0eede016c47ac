// SPDX-License-Identifier: Apache-2.0
// ofp8: which backends this machine can run, and the way from an `isa` to its kernel tables.
//
//   for (isa i : available_isas()) gemm_nt(aq, wq, d, {}, {.isa = i});     // best first; the same bits
//   available_isas().front();                                              // what isa::automatic picks
#pragma once

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/arch/isa.hpp>
#include <ofp8/arch/list.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {
OFP8_ALGORITHMS_BEGIN

/// Instruction sets, best first; `scalar` is in it and last.
class isa_list {
 public:
  using value_type = isa;
  using iterator = const isa*;
  using const_iterator = const isa*;

  OFP8_INLINE_MEMBER constexpr const isa* begin() const noexcept { return items_; }
  OFP8_INLINE_MEMBER constexpr const isa* end() const noexcept { return items_ + size_; }
  OFP8_INLINE_MEMBER constexpr int size() const noexcept { return size_; }
  OFP8_INLINE_MEMBER constexpr isa front() const noexcept { return items_[0]; }
  OFP8_INLINE_MEMBER constexpr bool contains(isa i) const noexcept {
    for (isa item : *this)
      if (item == i) return true;
    return false;
  }

  /// Keeps the list sorted by falling rank; equal ranks stay in the order in which they came.
  OFP8_INLINE_MEMBER constexpr void insert(isa i, int rank) noexcept {
    int at = size_++;
    for (; at > 0 && ranks_[at - 1] < rank; --at) {
      items_[at] = items_[at - 1];
      ranks_[at] = ranks_[at - 1];
    }
    items_[at] = i;
    ranks_[at] = rank;
  }

 private:
  static constexpr int capacity = 8;
  static_assert(impl::backends::size <= capacity);
  isa items_[capacity] = {};
  int ranks_[capacity] = {};
  int size_ = 0;
};

namespace impl {

template <class... Backends>
constexpr isa_list isas_of(const cpu_features& cpu, backend_list<Backends...>) noexcept {
  isa_list list;
  const auto add = [&](isa id, int rank) {
    if (rank > 0) list.insert(id, rank);
  };
  (add(Backends::id, Backends::rank(cpu)), ...);
  return list;
}

}  // namespace impl

/// What a machine with these features can run, in the order of its preference.
constexpr isa_list isas_of(const cpu_features& cpu) noexcept { return impl::isas_of(cpu, impl::backends{}); }

/// What this machine can run, of what this build has.
inline const isa_list& available_isas() noexcept {
  static const isa_list list = isas_of(this_cpu());
  return list;
}

namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_isa(const char* function, isa asked) {
  detail::message m;
  m << function << ": isa " << name(asked) << " is not available on this machine (available: ";
  const char* separator = "";
  for (isa i : available_isas()) {
    m << separator << name(i);
    separator = ", ";
  }
  m << ")";
  detail::fail<argument_error>(m);
}

/// `asked`, or the best one for `automatic`; argument_error where the machine or the build lacks it.
inline isa resolve(const char* function, isa asked) {
  if (asked == isa::automatic) return available_isas().front();
  if (!available_isas().contains(asked)) refuse_isa(function, asked);
  return asked;
}

// The tables of a resolved isa.
template <class... Backends>
inline const row_kernels& row_kernels_in(isa id, backend_list<Backends...>) noexcept {
  const row_kernels* found = nullptr;
  ((Backends::id == id ? void(found = &Backends::rows()) : void()), ...);
  return *found;
}
template <fp8_type E, class... Backends>
inline const codec_kernels<E>& codec_kernels_in(isa id, backend_list<Backends...>) noexcept {
  const codec_kernels<E>* found = nullptr;
  ((Backends::id == id ? void(found = &Backends::template codec<E>()) : void()), ...);
  return *found;
}
template <fp8_type E, class... Backends>
inline const gemm_kernels<E>& gemm_kernels_in(isa id, backend_list<Backends...>) noexcept {
  const gemm_kernels<E>* found = nullptr;
  ((Backends::id == id ? void(found = &Backends::template gemm<E>()) : void()), ...);
  return *found;
}

}  // namespace impl

/// The kernels for rows of 16- and 32-bit numbers, of an isa that is in available_isas().
inline const row_kernels& row_kernels_of(isa id) noexcept {
  return impl::row_kernels_in(id, impl::backends{});
}
/// The kernels for codes E, of an isa that is in available_isas().
template <fp8_type E>
inline const codec_kernels<E>& codec_kernels_of(isa id) noexcept {
  return impl::codec_kernels_in<E>(id, impl::backends{});
}
/// The kernels for GEMMs of format E, of an isa that is in available_isas().
template <fp8_type E>
inline const gemm_kernels<E>& gemm_kernels_of(isa id) noexcept {
  return impl::gemm_kernels_in<E>(id, impl::backends{});
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
