// SPDX-License-Identifier: Apache-2.0
// ofp8: the codec kernels (contract: arch/codec_kernels.hpp) of any x86 vector extension. This is text, included
// into one namespace for each instruction set: a template could not take its `target` attribute from a parameter.
// The includer, inside its kernel namespace,
//   - uses the names of impl::vec256 or impl::vec512,
//   - includes bytes_by_shuffles.inl or other text with the same names,
//   - defines OFP8_VEC, the attributes of a function that is inlined into kernels, and OFP8_KERNEL, of a kernel.

using detail::scaling;

#include <ofp8/arch/vec/numbers.inl>

#include <ofp8/arch/vec/encode.inl>

#include <ofp8/arch/vec/decode.inl>

template <class In>
inline void widen(const In* x, std::ptrdiff_t n, float* out) noexcept {
  widen_row(detail::numbers_of(x), n, out);
}
template <class Out>
inline void narrow_to(const float* x, std::ptrdiff_t n, Out* out) noexcept {
  narrow_row(x, n, detail::number_type_of<Out>, out);
}
template <class In>
inline std::uint32_t amax(const In* x, std::ptrdiff_t n, std::ptrdiff_t group, amax_rule rule,
                          std::uint32_t* found) noexcept {
  return amax_of_row(detail::numbers_of(x), n, group, rule, found);
}

inline constexpr row_kernels rows{
    .widen_bf16 = &widen<bf16>,
    .widen_fp16 = &widen<fp16>,
    .narrow_bf16 = &narrow_to<bf16>,
    .narrow_fp16 = &narrow_to<fp16>,
    .canonical_f32 = &narrow_to<float>,
    .amax_f32 = &amax<float>,
    .amax_bf16 = &amax<bf16>,
    .amax_fp16 = &amax<fp16>,
};

template <fp8_type E>
inline constexpr codec_kernels<E> codec{
    .encode_f32 = &encode<E, float>,
    .encode_bf16 = &encode<E, bf16>,
    .encode_fp16 = &encode<E, fp16>,
    .decode_f32 = &decode<E>,
    .decode_bf16 = &decode<E, bf16>,
    .decode_fp16 = &decode<E, fp16>,
    .quantize_f32 = &quantize<E, float>,
    .quantize_bf16 = &quantize<E, bf16>,
    .quantize_fp16 = &quantize<E, fp16>,
    .dequantize_f32 = &dequantize<E, float>,
    .dequantize_bf16 = &dequantize<E, bf16>,
    .dequantize_fp16 = &dequantize<E, fp16>,
};
