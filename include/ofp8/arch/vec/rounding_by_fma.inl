// SPDX-License-Identifier: Apache-2.0
// ofp8: rounding to codes as arch/rounding_constants.hpp explains it. Text for a kernel namespace:
// arch/vec/codec.inl.
//
// The addend is left without its constant K, so it is a product, 2^shift times the binade, and one fma does the
// addition; then the low byte of sum + (binade >> shift) is the code plus `surplus`.

struct rounding {
  u32v magnitude, exponent, smallest, shift;
  f32v unit;
  std::uint8_t surplus;
  bool has_minus_zero;

  OFP8_VEC static rounding make(const format_spec& f) noexcept {
    const int shift = 23 - f.mantissa_bits;
    const auto smallest = static_cast<std::uint32_t>(127 + f.min_exponent());
    return {splat(detail::float_magnitude),
            splat(detail::float_infinity),
            splat(smallest << 23),
            splat(static_cast<std::uint32_t>(shift)),
            splat(detail::power_of_two(shift)),
            static_cast<std::uint8_t>(smallest << f.mantissa_bits),
            f.has_minus_zero()};
  }

  // The power of two of a magnitude's binade, at least that of the smallest normal.
  OFP8_VEC u32v binade(f32v a) const noexcept { return max(bits(a) & exponent, smallest); }
  OFP8_VEC u32v code(f32v total, u32v binade) const noexcept {
    return bits(total) + shift_right(binade, shift);
  }

  /// Of magnitudes up to the clamp: numbers whose low bytes bytes() makes codes.
  OFP8_VEC u32v round(f32v a) const noexcept {
    const u32v b = binade(a);
    return code(fma(floats(b), unit, a), b);
  }
  OFP8_VEC u8v bytes(u8v low) const noexcept { return low - splat(surplus); }

  struct sum {
    f32v total, addend;
  };
  OFP8_VEC sum add(f32v a) const noexcept {
    const f32v b = floats(binade(a));
    return {fma(b, unit, a), b * unit};
  }
  /// The code alone.
  OFP8_VEC u32v exact_code(const sum& s) const noexcept {
    const u32v b = bits(s.addend) - shift_left<23>(shift);
    return (code(s.total, b) - splat(std::uint32_t{surplus})) & splat(0xffu);
  }
};
