// SPDX-License-Identifier: Apache-2.0
// ofp8: the codec kernels of the AVX-512 backend (contract: arch/codec_kernels.hpp): the shared text of arch/vec for
// 512 bits, twice. Where the CPU has VBMI, bytes are permuted and looked up across the whole vector.
#pragma once

#include <ofp8/core/config.hpp>

#if OFP8_X86_64

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/rounding_constants.hpp>
#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/arch/vec/avx512.hpp>
#include <ofp8/arch/vec/byte_arithmetic.hpp>
#include <ofp8/arch/vec/codec_steps.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/scale_step.hpp>

#define OFP8_FEATURES_AVX512_VBMI OFP8_FEATURES_AVX512 ",avx512vbmi"

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN

namespace impl::avx512 {

#define OFP8_VEC OFP8_VEC512
#define OFP8_KERNEL __attribute__((target(OFP8_FEATURES_AVX512))) inline
using namespace vec512;

#include <ofp8/arch/vec/bytes_by_shuffles.inl>
#include <ofp8/arch/vec/rounding_by_table.inl>

#include <ofp8/arch/vec/codec.inl>

#undef OFP8_VEC
#undef OFP8_KERNEL

}  // namespace impl::avx512

namespace impl::avx512_vbmi {

#define OFP8_VEC __attribute__((target(OFP8_FEATURES_AVX512_VBMI), always_inline)) inline
#define OFP8_KERNEL __attribute__((target(OFP8_FEATURES_AVX512_VBMI))) inline
using namespace vec512;

#include <ofp8/arch/vec/rounding_by_table.inl>
#include <ofp8/arch/x86_avx512/bytes_by_vbmi.inl>

#include <ofp8/arch/vec/codec.inl>

#undef OFP8_VEC
#undef OFP8_KERNEL

}  // namespace impl::avx512_vbmi

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END

#endif  // OFP8_X86_64
