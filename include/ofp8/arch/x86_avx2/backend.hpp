// SPDX-License-Identifier: Apache-2.0
// ofp8: the AVX2 backend: any x86-64 CPU with AVX2, FMA and F16C (Intel since Haswell, AMD since Zen).
#pragma once

#include <ofp8/core/config.hpp>

#if OFP8_X86_64

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/arch/isa.hpp>
#include <ofp8/arch/scalar/gemm.hpp>
#include <ofp8/arch/x86_avx2/codec.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

struct avx2_backend {
  static constexpr isa id = isa::avx2;
  static constexpr int rank(const cpu_features& cpu) noexcept {
    return cpu.avx2 && cpu.fma && cpu.f16c ? 20 : 0;
  }

  static constexpr const row_kernels& rows() noexcept { return avx2::rows; }
  template <fp8_type E>
  static constexpr const codec_kernels<E>& codec() noexcept {
    return avx2::codec<E>;
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
