// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "ceilings/ceilings.hpp"
#include "ceilings/timing.hpp"

namespace ofp8::bench {
namespace {

// An instruction with 14 accumulators: enough for 2 per cycle at a latency of 7. Operands are zero.
struct kernel {
  void (*run)(long repeats) noexcept;
  double flops_per_instruction;
};
constexpr int accumulators = 14;

#if defined(__x86_64__)

#define OFP8_BENCH_CLOBBERS                                                                               \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
      "xmm12", "xmm13", "xmm14", "xmm15"

// Sixteen low registers only: the clobber list then means the same in a build without AVX-512.
#define OFP8_BENCH_PEAK(function, instruction, reg)                                                   \
  void function(long repeats) noexcept {                                                              \
    asm volatile(                                                                                     \
        "vxorps %%xmm14, %%xmm14, %%xmm14\n\t"                                                        \
        "vxorps %%xmm15, %%xmm15, %%xmm15\n"                                                          \
        ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t"                                                 \
        "vxorps %%xmm\\r, %%xmm\\r, %%xmm\\r\n"                                                       \
        ".endr\n"                                                                                     \
        "1:\n"                                                                                        \
        ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n\t" instruction " %%" reg "14, %%" reg "15, %%" reg \
        "\\r\n"                                                                                       \
        ".endr\n\t"                                                                                   \
        "dec %[repeats]\n\t"                                                                          \
        "jnz 1b\n\t"                                                                                  \
        "vzeroupper"                                                                                  \
        : [repeats] "+r"(repeats)                                                                     \
        :                                                                                             \
        : OFP8_BENCH_CLOBBERS);                                                                       \
  }

OFP8_BENCH_PEAK(run_fma_ymm, "vfmadd231ps", "ymm")
OFP8_BENCH_PEAK(run_fma_zmm, "vfmadd231ps", "zmm")
OFP8_BENCH_PEAK(run_bf16_dot_ymm, "vdpbf16ps", "ymm")
OFP8_BENCH_PEAK(run_bf16_dot_zmm, "vdpbf16ps", "zmm")

void multiply_chain(long repeats) noexcept {
  asm volatile(
      "mov $3, %%eax\n"
      "1:\n"
      ".rept 16\n\t"
      "imul %%rax, %%rax\n"
      ".endr\n\t"
      "dec %[repeats]\n\t"
      "jnz 1b"
      : [repeats] "+r"(repeats)
      :
      : "cc", "rax");
}

std::optional<kernel> kernel_of(arithmetic a) {
  switch (a) {
    case arithmetic::fma_ymm:
      if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kernel{run_fma_ymm, 16};
      break;
    case arithmetic::fma_zmm:
      if (__builtin_cpu_supports("avx512f")) return kernel{run_fma_zmm, 32};
      break;
    case arithmetic::bf16_dot_ymm:
      if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl"))
        return kernel{run_bf16_dot_ymm, 32};
      break;
    case arithmetic::bf16_dot_zmm:
      if (__builtin_cpu_supports("avx512bf16")) return kernel{run_bf16_dot_zmm, 64};
      break;
  }
  return std::nullopt;
}

#else

std::optional<kernel> kernel_of(arithmetic) { return std::nullopt; }

#endif

std::optional<double> measure_flops(arithmetic a, int threads) {
  const std::optional<kernel> k = kernel_of(a);
  if (!k) return std::nullopt;
  constexpr long repeats = 20'000;
  const double work = static_cast<double>(repeats) * accumulators * k->flops_per_instruction;
  return total_rate(
      threads, [&](int, clock_kind clock) { return work / median_seconds([&] { k->run(repeats); }, clock); });
}

std::optional<double> larger(std::optional<double> a, std::optional<double> b) {
  return std::max(a, b);  // nothing is less than anything
}

}  // namespace

const char* name(arithmetic a) noexcept {
  switch (a) {
    case arithmetic::fma_ymm:
      return "fma_ymm";
    case arithmetic::fma_zmm:
      return "fma_zmm";
    case arithmetic::bf16_dot_ymm:
      return "bf16_dot_ymm";
    case arithmetic::bf16_dot_zmm:
      return "bf16_dot_zmm";
  }
  return "unknown";
}

std::optional<double> flops(arithmetic a, int threads) {
  static std::map<std::pair<arithmetic, int>, std::optional<double>> known;
  const auto [entry, is_new] = known.try_emplace({a, threads});
  if (is_new) entry->second = measure_flops(a, threads);
  return entry->second;
}

std::optional<double> fma_peak(int threads) {
  return larger(flops(arithmetic::fma_ymm, threads), flops(arithmetic::fma_zmm, threads));
}

std::optional<double> bf16_dot_peak(int threads) {
  return larger(flops(arithmetic::bf16_dot_ymm, threads), flops(arithmetic::bf16_dot_zmm, threads));
}

std::optional<double> clock_hz() {
#if defined(__x86_64__)
  constexpr long repeats = 100'000;
  constexpr double cycles = 16.0 * 3 * repeats;
  static const double hz = total_rate(1, [](int, clock_kind clock) {
    return cycles / median_seconds([] { multiply_chain(repeats); }, clock);
  });
  return hz;
#else
  return std::nullopt;
#endif
}

}  // namespace ofp8::bench
