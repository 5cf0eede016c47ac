// SPDX-License-Identifier: Apache-2.0
// ofp8: the AVX-512 backend: CPUs with AVX-512 F, BW, VL and DQ (Intel since Skylake-X, AMD since Zen 4), and better
// tables for those with VBMI (Intel since Ice Lake, AMD since Zen 4).
#pragma once

#include <ofp8/core/config.hpp>

#if OFP8_X86_64

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/arch/isa.hpp>
#include <ofp8/arch/scalar/gemm.hpp>
#include <ofp8/arch/x86_avx512/codec.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

struct avx512_backend {
  static constexpr isa id = isa::avx512;
  static constexpr int rank(const cpu_features& cpu) noexcept {
    return cpu.avx2 && cpu.fma && cpu.f16c && cpu.avx512f && cpu.avx512bw && cpu.avx512vl && cpu.avx512dq ? 30
                                                                                                          : 0;
  }

  static const row_kernels& rows() noexcept {
    return this_cpu().avx512vbmi ? avx512_vbmi::rows : avx512::rows;
  }
  template <fp8_type E>
  static const codec_kernels<E>& codec() noexcept {
    return this_cpu().avx512vbmi ? avx512_vbmi::codec<E> : avx512::codec<E>;
  }
  template <fp8_type E>
  static constexpr const gemm_kernels<E>& gemm() noexcept {
    return scalar::gemm<E>;
  }
};

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8

#endif  // OFP8_X86_64
