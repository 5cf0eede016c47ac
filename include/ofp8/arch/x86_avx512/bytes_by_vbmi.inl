// SPDX-License-Identifier: Apache-2.0
// ofp8: what kernels do to bytes with AVX-512 VBMI: bytes are picked from two vectors in one instruction, and the
// 128 magnitudes of FP8 codes index tables of two vectors. arch/vec/bytes_by_shuffles.inl defines the same names.

// Byte j of every 32-bit number of two vectors, for both halves of the result.
struct byte_orders {
  alignas(64) std::uint8_t lowest[64], highest[64];
};
inline constexpr byte_orders orders = [] {
  byte_orders o{};
  for (unsigned i = 0; i < 64; ++i) {
    o.lowest[i] = static_cast<std::uint8_t>(i % 32 * 4);
    o.highest[i] = static_cast<std::uint8_t>(i % 32 * 4 + 3);
  }
  return o;
}();

struct packing {
  /// Of each number its lowest byte.
  OFP8_VEC static u8v low_bytes(const quad<u32v>& x) noexcept { return bytes(x, orders.lowest); }
  /// Of each number its highest byte: bit 7 is the sign.
  OFP8_VEC static u8v signs(const quad<u32v>& x) noexcept { return bytes(x, orders.highest); }
  OFP8_VEC static u8v in_order(u8v x) noexcept { return x; }

 private:
  OFP8_VEC static u8v bytes(const quad<u32v>& x, const std::uint8_t* order) noexcept {
    const __m512i o = _mm512_loadu_si512(order);
    const __m512i low = _mm512_permutex2var_epi8(x.a.v, o, x.b.v);
    const __m512i high = _mm512_permutex2var_epi8(x.c.v, o, x.d.v);
    return {_mm512_mask_mov_epi64(low, 0xf0, high)};
  }
};

/// The bytes of 16-bit numbers.
struct halves {
  u8v low, high;
};

/// The bytes of the 16-bit numbers of all magnitudes, and of NaN.
struct decoding {
  alignas(64) std::uint8_t low[128], high[128];
  std::uint8_t low_nan, high_nan;
  bool has_minus_zero;  // else 80 is NaN
};
OFP8_INLINE constexpr decoding decoding_to(const format_spec& out, const format_spec& in) noexcept {
  const std::uint32_t nan = out.infinity_code() | 1u << (out.mantissa_bits - 1);
  decoding t{};
  for (std::uint32_t m = 0; m < 128; ++m) {
    const std::uint32_t number =
        in.is_nan(m) ? nan : detail::round_to(out, nonsaturating, detail::unpack(in, m));
    t.low[m] = static_cast<std::uint8_t>(number);
    t.high[m] = static_cast<std::uint8_t>(number >> 8);
  }
  t.low_nan = static_cast<std::uint8_t>(nan);
  t.high_nan = static_cast<std::uint8_t>(nan >> 8);
  t.has_minus_zero = in.has_minus_zero();
  return t;
}
template <class E, class Out>
inline constexpr decoding decoding_of = decoding_to(Out::spec, E::spec);

struct decoder {
  __m512i low[2], high[2];
  u8v low_nan, high_nan;
  bool has_minus_zero;

  OFP8_VEC static decoder make(const decoding& t) noexcept {
    return {{_mm512_load_si512(t.low), _mm512_load_si512(t.low + 64)},
            {_mm512_load_si512(t.high), _mm512_load_si512(t.high + 64)},
            splat(t.low_nan),
            splat(t.high_nan),
            t.has_minus_zero};
  }

  OFP8_VEC halves decode(u8v x) const noexcept {
    const u8v sign = splat(std::uint8_t{0x80});
    u8v l{_mm512_permutex2var_epi8(low[0], x.v, low[1])};
    u8v h{_mm512_permutex2var_epi8(high[0], x.v, high[1])};
    if (!has_minus_zero) {
      l = select_equal(x, sign, low_nan, l);
      h = select_equal(x, sign, high_nan, h);
    }
    return {l, or_and(h, x, sign)};
  }
};
