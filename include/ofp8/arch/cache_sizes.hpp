// SPDX-License-Identifier: Apache-2.0
// ofp8: the sizes of this CPU's data caches, from CPUID. They decide how a GEMM is cut, never a bit of it.
//
//   const std::ptrdiff_t l2 = this_caches().l2;
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/core/config.hpp>

namespace ofp8 {

/// Bytes. What CPUID does not tell (other vendors, some virtual machines) is a size that most CPUs have.
struct cache_sizes {
  std::ptrdiff_t l1 = std::ptrdiff_t{32} << 10;
  std::ptrdiff_t l2 = std::ptrdiff_t{512} << 10;
};

namespace detail {

/// Intel describes its caches in leaf 4, AMD in leaf 8000001d, in the same words (Intel SDM volume 2, CPUID;
/// AMD APM volume 3, appendix E.4.15).
template <class Source>
OFP8_INLINE constexpr cache_sizes detect_caches(const Source& source) {
  cache_sizes sizes;
  const cpuid_registers leaf0 = source.cpuid(0, 0);
  const cpu_vendor vendor = leaf0.eax >= 4 ? vendor_of(leaf0) : cpu_vendor::other;
  const bool has_extended = vendor == cpu_vendor::amd && source.cpuid(0x8000'0000u, 0).eax >= 0x8000'001du;
  if (vendor != cpu_vendor::intel && !has_extended) return sizes;
  const std::uint32_t leaf = has_extended ? 0x8000'001du : 4u;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const cpuid_registers cache = source.cpuid(leaf, i);
    const std::uint32_t type = cache.eax & 0x1f, level = (cache.eax >> 5) & 7;
    if (type == 0) break;
    if (type == 2) continue;  // instructions
    const auto line = static_cast<std::ptrdiff_t>((cache.ebx & 0xfff) + 1);
    const auto partitions = static_cast<std::ptrdiff_t>(((cache.ebx >> 12) & 0x3ff) + 1);
    const auto ways = static_cast<std::ptrdiff_t>((cache.ebx >> 22) + 1);
    const std::ptrdiff_t bytes = ways * partitions * line * (std::ptrdiff_t{cache.ecx} + 1);
    if (level == 1) sizes.l1 = bytes;
    if (level == 2) sizes.l2 = bytes;
  }
  return sizes;
}

}  // namespace detail

OFP8_ALGORITHMS_BEGIN

/// The caches of the machine that this process runs on, read once.
inline const cache_sizes& this_caches() noexcept {
  static const cache_sizes sizes = detail::detect_caches(detail::hardware_cpuid{});
  return sizes;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
