// SPDX-License-Identifier: Apache-2.0
// ofp8: the scalar backend: plain loops, any CPU, the last resort of every list.
#pragma once

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/arch/isa.hpp>
#include <ofp8/arch/scalar/codec.hpp>
#include <ofp8/arch/scalar/gemm.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

struct scalar_backend {
  static constexpr isa id = isa::scalar;
  static constexpr int rank(const cpu_features&) noexcept { return 1; }

  static constexpr const row_kernels& rows() noexcept { return scalar::rows; }
  template <fp8_type E>
  static constexpr const codec_kernels<E>& codec() noexcept {
    return scalar::codec<E>;
  }
  template <fp8_type E>
  static constexpr const gemm_kernels<E>& gemm() noexcept {
    return scalar::gemm<E>;
  }
};

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
