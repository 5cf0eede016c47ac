// SPDX-License-Identifier: Apache-2.0
// ofp8: rounding to codes as arch/rounding_constants.hpp explains it, with the addends looked up by the binade: a
// table of 32 holds them for all exponents that a clamped magnitude can have. So the constant K can contain the
// code's exponent field, and the low byte of the sum is the code. Text for a kernel namespace: arch/vec/codec.inl.

struct rounding {
  u32v magnitude, smallest;
  u32v addends_0, addends_1;  // by the low 5 bits of a float's exponent field
  bool has_minus_zero;

  OFP8_VEC static rounding make(const format_spec& f) noexcept {
    const auto shift = static_cast<std::uint32_t>(23 - f.mantissa_bits);
    const auto smallest = static_cast<std::uint32_t>(127 + f.min_exponent());
    // Place i is of the exponent field smallest + above that ends in i.
    const u32v above_0 = (lane_numbers() - splat(smallest)) & splat(31u);
    const u32v above_1 = (lane_numbers() + splat(16u) - splat(smallest)) & splat(31u);
    const u32v first = splat((smallest + shift) << 23),
               mantissa = splat(static_cast<std::uint32_t>(f.mantissa_bits));
    return {splat(detail::float_magnitude), splat(smallest << 23),
            first + shift_left<23>(above_0) + shift_left(above_0, mantissa),
            first + shift_left<23>(above_1) + shift_left(above_1, mantissa), f.has_minus_zero()};
  }

  OFP8_VEC f32v addend(f32v a) const noexcept {
    return floats(look_up_32(addends_0, addends_1, shift_right<23>(max(bits(a), smallest))));
  }

  /// Of magnitudes up to the clamp: numbers whose low bytes bytes() makes codes.
  OFP8_VEC u32v round(f32v a) const noexcept { return bits(opaque(a) + addend(a)); }
  OFP8_VEC u8v bytes(u8v low) const noexcept { return low; }

  struct sum {
    f32v total, addend;
  };
  OFP8_VEC sum add(f32v a) const noexcept {
    const f32v c = addend(a);
    return {opaque(a) + c, c};
  }
  /// The code alone.
  OFP8_VEC u32v exact_code(const sum& s) const noexcept { return bits(s.total) & splat(0xffu); }
};
