// SPDX-License-Identifier: Apache-2.0
// ofp8: the codec kernels of the AVX2 backend (contract: arch/codec_kernels.hpp): the shared text of arch/vec for
// 256 bits.
#pragma once

#include <ofp8/core/config.hpp>

#if OFP8_X86_64

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/rounding_constants.hpp>
#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/arch/vec/avx2.hpp>
#include <ofp8/arch/vec/byte_arithmetic.hpp>
#include <ofp8/arch/vec/codec_steps.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/scale_step.hpp>

#define OFP8_VEC OFP8_VEC256
#define OFP8_KERNEL __attribute__((target(OFP8_FEATURES_AVX2))) inline

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl::avx2 {

using namespace vec256;

#include <ofp8/arch/vec/bytes_by_shuffles.inl>
#include <ofp8/arch/vec/rounding_by_fma.inl>

#include <ofp8/arch/vec/codec.inl>

}  // namespace impl::avx2
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END

#undef OFP8_VEC
#undef OFP8_KERNEL

#endif  // OFP8_X86_64
