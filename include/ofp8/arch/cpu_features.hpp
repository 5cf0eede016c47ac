// SPDX-License-Identifier: Apache-2.0
// ofp8: what this CPU can run: CPUID's feature bits, and the register state that the operating system saves
// (XCR0), without which a feature must not be used. A plain struct, so that tests fake a lesser machine.
//
//   const cpu_features& cpu = this_cpu();
//   if (cpu.avx2 && cpu.fma) ...
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>

#if OFP8_X86_64 && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>
#define OFP8_HAS_CPUID 1
#else
#define OFP8_HAS_CPUID 0
#endif

namespace ofp8 {

enum class cpu_vendor : std::uint8_t { other, intel, amd };

/// A feature is true when the CPU has it and the operating system saves its registers. All false on CPUs that
/// are not x86-64.
struct cpu_features {
  cpu_vendor vendor = cpu_vendor::other;
  unsigned family = 0;  ///< displayed family, extended part included: 0x19 is Zen 3 and 4
  unsigned model = 0;

  bool sse3 = false, ssse3 = false, sse4_1 = false, sse4_2 = false, popcnt = false;
  bool avx = false, avx2 = false, fma = false, f16c = false, bmi1 = false, bmi2 = false;
  bool avx512f = false, avx512bw = false, avx512vl = false, avx512dq = false;
  bool avx512vbmi = false, avx512vbmi2 = false, avx512vnni = false, avx512bf16 = false;

  OFP8_INLINE_MEMBER friend constexpr bool operator==(const cpu_features&, const cpu_features&) = default;
};

namespace detail {

struct cpuid_registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

OFP8_INLINE constexpr bool has_bit(std::uint64_t word, int bit) noexcept { return ((word >> bit) & 1) != 0; }

OFP8_INLINE constexpr cpu_vendor vendor_of(const cpuid_registers& leaf0) noexcept {
  if (leaf0.ebx == 0x756e6547 && leaf0.edx == 0x49656e69 && leaf0.ecx == 0x6c65746e)
    return cpu_vendor::intel;  // "GenuineIntel"
  if (leaf0.ebx == 0x68747541 && leaf0.edx == 0x69746e65 && leaf0.ecx == 0x444d4163)
    return cpu_vendor::amd;  // "AuthenticAMD"
  return cpu_vendor::other;
}

/// Reads features from a source with `cpuid(leaf, subleaf)` and `xcr0()`; xcr0 is asked only where CPUID says
/// that XGETBV may be used. Bits: Intel SDM volume 2, CPUID; volume 1, section 14.3 for the XCR0 tests.
template <class Source>
OFP8_INLINE constexpr cpu_features detect_cpu(const Source& source) {
  cpu_features f;
  const cpuid_registers leaf0 = source.cpuid(0, 0);
  if (leaf0.eax < 1) return f;
  f.vendor = vendor_of(leaf0);

  const cpuid_registers leaf1 = source.cpuid(1, 0);
  const unsigned base_family = (leaf1.eax >> 8) & 0xf;
  f.family = base_family + (base_family == 0xf ? (leaf1.eax >> 20) & 0xff : 0);
  f.model = ((leaf1.eax >> 4) & 0xf) | ((leaf1.eax >> 12) & 0xf0);
  f.sse3 = has_bit(leaf1.ecx, 0);
  f.ssse3 = has_bit(leaf1.ecx, 9);
  f.sse4_1 = has_bit(leaf1.ecx, 19);
  f.sse4_2 = has_bit(leaf1.ecx, 20);
  f.popcnt = has_bit(leaf1.ecx, 23);

  // XCR0: bits 1 and 2 are XMM and YMM, 5 to 7 the AVX-512 masks and the upper ZMM halves and registers.
  const bool os_has_xgetbv = has_bit(leaf1.ecx, 27);
  const std::uint64_t saved = os_has_xgetbv ? source.xcr0() : 0;
  const bool ymm = (saved & 0x06) == 0x06;
  const bool zmm = (saved & 0xe6) == 0xe6;

  f.avx = ymm && has_bit(leaf1.ecx, 28);
  f.fma = f.avx && has_bit(leaf1.ecx, 12);
  f.f16c = f.avx && has_bit(leaf1.ecx, 29);
  if (leaf0.eax < 7) return f;

  const cpuid_registers leaf7 = source.cpuid(7, 0);
  f.bmi1 = has_bit(leaf7.ebx, 3);
  f.bmi2 = has_bit(leaf7.ebx, 8);
  f.avx2 = f.avx && has_bit(leaf7.ebx, 5);
  f.avx512f = f.avx2 && zmm && has_bit(leaf7.ebx, 16);
  f.avx512dq = f.avx512f && has_bit(leaf7.ebx, 17);
  f.avx512bw = f.avx512f && has_bit(leaf7.ebx, 30);
  f.avx512vl = f.avx512f && has_bit(leaf7.ebx, 31);
  f.avx512vbmi = f.avx512f && has_bit(leaf7.ecx, 1);
  f.avx512vbmi2 = f.avx512f && has_bit(leaf7.ecx, 6);
  f.avx512vnni = f.avx512f && has_bit(leaf7.ecx, 11);
  if (leaf7.eax >= 1) f.avx512bf16 = f.avx512f && has_bit(source.cpuid(7, 1).eax, 5);
  return f;
}

#if OFP8_HAS_CPUID
struct hardware_cpuid {
  OFP8_INLINE_MEMBER cpuid_registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) const noexcept {
    cpuid_registers r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
  }
  // The intrinsic needs -mxsave.
  OFP8_INLINE_MEMBER std::uint64_t xcr0() const noexcept {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
  }
};
#else
struct hardware_cpuid {
  OFP8_INLINE_MEMBER cpuid_registers cpuid(std::uint32_t, std::uint32_t) const noexcept { return {}; }
  OFP8_INLINE_MEMBER std::uint64_t xcr0() const noexcept { return 0; }
};
#endif

}  // namespace detail

OFP8_ALGORITHMS_BEGIN

/// The machine this process runs on, read once.
inline const cpu_features& this_cpu() noexcept {
  static const cpu_features features = detail::detect_cpu(detail::hardware_cpuid{});
  return features;
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
