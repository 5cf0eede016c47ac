// SPDX-License-Identifier: Apache-2.0
// ofp8: codes to numbers: decode and dequantize. Text for a kernel namespace: arch/vec/codec.inl.

OFP8_VEC quad<f32v> decoded4(const decoder& d, u8v codes) noexcept {
  const halves h = d.decode(spread_to_32(codes));
  const u16v low = interleave_low(h.low, h.high), high = interleave_high(h.low, h.high);
  return {floats(widen_low(low)), floats(widen_high(low)), floats(widen_low(high)), floats(widen_high(high))};
}
OFP8_VEC two_u16v decoded2(const decoder& d, u8v codes) noexcept {
  const halves h = d.decode(spread_to_16(codes));
  return {interleave_low(h.low, h.high), interleave_high(h.low, h.high)};
}

// `p` says how a code becomes a bf16: the upper half of its float.
OFP8_KERNEL void decode_to_32(const std::uint8_t* codes, std::ptrdiff_t n, const decoding& p,
                              float* out) noexcept {
  const decoder d = decoder::make(p);
  for (std::ptrdiff_t i = 0; i < n; i += block)
    store4(out + i, n - i, decoded4(d, load_codes(codes + i, n - i)));
}
OFP8_KERNEL void decode_to_16(const std::uint8_t* codes, std::ptrdiff_t n, const decoding& p,
                              std::uint16_t* out) noexcept {
  const decoder d = decoder::make(p);
  for (std::ptrdiff_t i = 0; i < n; i += block)
    store2(out + i, n - i, decoded2(d, load_codes(codes + i, n - i)));
}

OFP8_VEC quad<f32v> products(const quad<f32v>& x, const quad<f32v>& s) noexcept {
  return {canonical(x.a * s.a), canonical(x.b * s.b), canonical(x.c * s.c), canonical(x.d * s.d)};
}
OFP8_KERNEL void dequantize_row(const std::uint8_t* codes, std::ptrdiff_t n, std::ptrdiff_t group,
                                const float* scales, const decoding& p, detail::number_type type,
                                void* out) noexcept {
  const decoder d = decoder::make(p);
  for (std::ptrdiff_t i = 0; i < n; i += block)
    store4(out, type, i, n - i,
           products(decoded4(d, load_codes(codes + i, n - i)), values_at(scales, group, i, n)));
}

template <class E>
inline void decode(const E* codes, std::ptrdiff_t n, float* out) noexcept {
  if (n > 0) decode_to_32(&codes->code, n, decoding_of<E, bf16>, out);
}
template <class E, class Out>
inline void decode(const E* codes, std::ptrdiff_t n, Out* out) noexcept {
  if (n > 0) decode_to_16(&codes->code, n, decoding_of<E, Out>, &out->code);
}
template <class E, class Out>
inline void dequantize(const E* codes, std::ptrdiff_t n, std::ptrdiff_t group, const float* scales,
                       Out* out) noexcept {
  if (n > 0)
    dequantize_row(&codes->code, n, group, scales, decoding_of<E, bf16>, detail::number_type_of<Out>, out);
}
