// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best: arithmetic peaks and memory traffic, measured in the process that asks,
// on first use, and remembered. A benchmark is judged by its share of one of them, never by a bare time.
//
//   const std::optional<double> peak = flops(arithmetic::fma_ymm);
//   if (peak) std::printf("%.0f %% of the FMA peak\n", 100 * rate / *peak);
//
// What the CPU cannot do is std::nullopt, never 0. The kernels are assembly: nothing that a compiler could
// delete, reshape or compile for another machine.
#pragma once

#include <cstddef>
#include <optional>

namespace ofp8::bench {

/// Independent accumulators of one instruction, all in registers.
enum class arithmetic {
  fma_ymm,       ///< FP32 FMA, 256 bits (AVX2 and FMA)
  fma_zmm,       ///< FP32 FMA, 512 bits (AVX-512F)
  bf16_dot_ymm,  ///< vdpbf16ps, 256 bits (AVX512_BF16, AVX512VL)
  bf16_dot_zmm   ///< vdpbf16ps, 512 bits (AVX512_BF16)
};
inline constexpr arithmetic arithmetics[] = {arithmetic::fma_ymm, arithmetic::fma_zmm,
                                             arithmetic::bf16_dot_ymm, arithmetic::bf16_dot_zmm};
const char* name(arithmetic a) noexcept;

/// FLOP/s (a multiply and an add are two) of that many pinned threads together.
std::optional<double> flops(arithmetic a, int threads = 1);

/// The better one of both widths.
std::optional<double> fma_peak(int threads = 1);
std::optional<double> bf16_dot_peak(int threads = 1);

/// Bytes read for bytes written, in the widest registers that the CPU has.
enum class traffic {
  read,
  memcpy,           ///< the C library's
  read4_write1,     ///< float -> FP8
  read2_write1,     ///< bf16 -> FP8
  read1_write2,     ///< FP8 -> bf16
  read1_write4,     ///< FP8 -> float
  read4_write1_nt,  ///< the same with non-temporal stores
  read2_write1_nt,
  read1_write2_nt,
  read1_write4_nt
};
inline constexpr traffic traffics[] = {traffic::read,
                                       traffic::memcpy,
                                       traffic::read4_write1,
                                       traffic::read2_write1,
                                       traffic::read1_write2,
                                       traffic::read1_write4,
                                       traffic::read4_write1_nt,
                                       traffic::read2_write1_nt,
                                       traffic::read1_write2_nt,
                                       traffic::read1_write4_nt};
const char* name(traffic t) noexcept;

/// The shape with non-temporal stores; std::nullopt where that is not measured.
std::optional<traffic> non_temporal(traffic t) noexcept;
bool is_non_temporal(traffic t) noexcept;

/// Bytes per second, read plus written, over and over the same `bytes` (read plus written) per thread.
std::optional<double> bytes_per_second(traffic t, std::size_t bytes, int threads = 1);

/// Clock of the core in Hz while it computes, from a chain of multiplies of three cycles each; std::nullopt
/// where that latency is not known.
std::optional<double> clock_hz();

}  // namespace ofp8::bench
