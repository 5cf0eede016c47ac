// SPDX-License-Identifier: Apache-2.0
// ofp8: what codec kernels do to bytes where instructions work within 128 bits (AVX2, AVX-512 BW): four vectors to
// one of bytes by packing with saturation; codes to the bytes of 16-bit numbers by arithmetic on bytes and tables of
// 16. Text for a kernel namespace: arch/vec/codec.inl.

struct packing {
  /// Of each number its lowest byte; the order is for in_order().
  OFP8_VEC static u8v low_bytes(const quad<u32v>& x) noexcept {
    const u32v byte = splat(0xffu);
    return pack_u16(pack_u32(x.a & byte, x.b & byte), pack_u32(x.c & byte, x.d & byte));
  }
  /// Bytes whose bit 7 is each number's bit 31; the order is for in_order().
  OFP8_VEC static u8v signs(const quad<u32v>& x) noexcept {
    return pack_i16(pack_i32(x.a, x.b), pack_i32(x.c, x.d));
  }
  OFP8_VEC static u8v in_order(u8v x) noexcept { return gathered(x); }
};

/// The bytes of 16-bit numbers.
struct halves {
  u8v low, high;
};

using decoding = detail::byte_arithmetic;
template <class E, class Out>
inline constexpr const decoding& decoding_of = detail::byte_arithmetic_for<E, Out>;

/// detail::byte_arithmetic on vectors.
struct decoder {
  u8v first, low_mask, high_mask, high_first;
  u8v low_corrections, high_corrections;
  u8v low_usual_up_to, high_usual_up_to, low_nan, high_nan;
  std::uint8_t left, right;
  bool has_minus_zero;

  OFP8_VEC static decoder make(const decoding& p) noexcept {
    return {splat(p.first),
            splat(p.low_mask),
            splat(p.high_mask),
            splat(p.high_first),
            table_of_16(p.low_corrections),
            table_of_16(p.high_corrections),
            splat(p.low_usual_up_to),
            splat(p.high_usual_up_to),
            splat(p.low_nan),
            splat(p.high_nan),
            p.left,
            p.right,
            p.has_minus_zero};
  }

  OFP8_VEC halves decode(u8v x) const noexcept {
    const u8v magnitude = x & splat(std::uint8_t{0x7f});
    const u8v shifted = magnitude + first;
    u8v low = shift_words_left(shifted, left) & low_mask;
    u8v high = (shift_words_right(shifted, right) & high_mask) + high_first;
    const u8v below_16 =
        magnitude + splat(std::uint8_t{0x70});  // from 16 on bit 7 is set: nothing is looked up
    low = low ^ look_up_16(low_corrections, below_16);
    high = high ^ look_up_16(high_corrections, below_16);
    const u8v key = has_minus_zero ? magnitude : x - splat(std::uint8_t{1});
    low = select_above(key, low_usual_up_to, low_nan, low);
    high = select_above(key, high_usual_up_to, high_nan, high);
    return {low, or_and(high, x, splat(std::uint8_t{0x80}))};
  }
};
