// SPDX-License-Identifier: Apache-2.0
// ofp8: rows of float, bf16 and fp16: quads of them from and to memory, conversions, amax: the row_kernels.
// Text for a kernel namespace: arch/vec/codec.inl.

// --- from memory and back ------------------------------------------------------------------------------------

template <class T>
OFP8_VEC quad<f32v> load4(const T* x, std::ptrdiff_t left) noexcept {
  return left >= block ? load_quad(x) : load_quad_first(x, left);
}
/// A quad of numbers from the i-th on; where only `left` are left, zeros behind them.
OFP8_VEC quad<f32v> load4(const detail::numbers& x, std::ptrdiff_t i, std::ptrdiff_t left) noexcept {
  if (x.type == detail::number_type::bfloat16) return load4(static_cast<const bf16*>(x.data) + i, left);
  if (x.type == detail::number_type::float16) return load4(static_cast<const fp16*>(x.data) + i, left);
  return load4(static_cast<const float*>(x.data) + i, left);
}

OFP8_VEC u8v load_codes(const std::uint8_t* codes, std::ptrdiff_t left) noexcept {
  return left >= block ? load_bytes(codes) : load_first_bytes(codes, left);
}
OFP8_VEC void store_codes(std::uint8_t* out, std::ptrdiff_t left, u8v codes) noexcept {
  if (left >= block)
    store(out, codes);
  else
    store_first(out, left, codes);
}

OFP8_VEC void store4(float* out, std::ptrdiff_t left, const quad<f32v>& x) noexcept {
  if (left >= block) {
    store(out, x.a);
    store(out + lanes, x.b);
    store(out + 2 * lanes, x.c);
    store(out + 3 * lanes, x.d);
  } else {
    store_first(out, left, x.a);
    if (left > lanes) store_first(out + lanes, left - lanes, x.b);
    if (left > 2 * lanes) store_first(out + 2 * lanes, left - 2 * lanes, x.c);
    if (left > 3 * lanes) store_first(out + 3 * lanes, left - 3 * lanes, x.d);
  }
}

struct two_u16v {
  u16v low, high;
};
OFP8_VEC void store2(std::uint16_t* out, std::ptrdiff_t left, const two_u16v& x) noexcept {
  constexpr std::ptrdiff_t half = block / 2;
  if (left >= block) {
    store(out, x.low);
    store(out + half, x.high);
  } else {
    store_first(out, left, x.low);
    if (left > half) store_first(out + half, left - half, x.high);
  }
}

// --- conversions ---------------------------------------------------------------------------------------------

OFP8_VEC f32v canonical(f32v x) noexcept {
  return floats(select(is_nan(x), splat(detail::float_quiet_nan), bits(x)));
}
OFP8_VEC quad<f32v> canonical(const quad<f32v>& x) noexcept {
  return {canonical(x.a), canonical(x.b), canonical(x.c), canonical(x.d)};
}
// A bf16 shifted up may be a signalling NaN.
OFP8_VEC f32v quiet(f32v x) noexcept {
  return floats(select(is_nan(x), bits(x) | splat(0x0040'0000u), bits(x)));
}

/// The upper half is the bf16 of a number that is no NaN but the canonical one.
OFP8_VEC u32v rounded_to_bf16(f32v x) noexcept {
  const u32v odd = shift_right<16>(bits(x)) & splat(1u);
  return bits(x) + splat(0x7fffu) + odd;
}
/// A quad without NaN but the canonical one, as bf16 or fp16.
OFP8_VEC two_u16v to_16(const quad<f32v>& x, bool bfloat16) noexcept {
  if (bfloat16)
    return {upper_halves(rounded_to_bf16(x.a), rounded_to_bf16(x.b)),
            upper_halves(rounded_to_bf16(x.c), rounded_to_bf16(x.d))};
  return {to_fp16(x.a, x.b), to_fp16(x.c, x.d)};
}
/// Numbers from the i-th on, of any type.
OFP8_VEC void store4(void* out, detail::number_type type, std::ptrdiff_t i, std::ptrdiff_t left,
                     const quad<f32v>& x) noexcept {
  if (type == detail::number_type::float32)
    store4(static_cast<float*>(out) + i, left, x);
  else
    store2(static_cast<std::uint16_t*>(out) + i, left, to_16(x, type == detail::number_type::bfloat16));
}

OFP8_KERNEL void widen_row(const detail::numbers& x, std::ptrdiff_t n, float* out) noexcept {
  for (std::ptrdiff_t i = 0; i < n; i += block) {
    const quad<f32v> q = load4(x, i, n - i);
    store4(out + i, n - i, {quiet(q.a), quiet(q.b), quiet(q.c), quiet(q.d)});
  }
}
OFP8_KERNEL void narrow_row(const float* x, std::ptrdiff_t n, detail::number_type type, void* out) noexcept {
  for (std::ptrdiff_t i = 0; i < n; i += block) store4(out, type, i, n - i, canonical(load4(x + i, n - i)));
}

// --- amax ----------------------------------------------------------------------------------------------------

// A vector of maxima of n magnitudes, as numbers of their own type.
OFP8_VEC u32v maxima_of_32(const float* x, std::ptrdiff_t n) noexcept {
  const u32v magnitude = splat(detail::float_magnitude);
  u32v found = splat(0u);
  for (; n > 0; n -= block, x += block) {
    const quad<f32v> q = load4(x, n);
    found = max(found, max(max(bits(q.a) & magnitude, bits(q.b) & magnitude),
                           max(bits(q.c) & magnitude, bits(q.d) & magnitude)));
  }
  return found;
}
OFP8_VEC u32v maxima_of_16(const std::uint16_t* x, std::ptrdiff_t n) noexcept {
  constexpr std::ptrdiff_t half = block / 2;
  const u16v magnitude = splat(std::uint16_t{0x7fff});
  u16v found = splat(std::uint16_t{0});
  for (; n >= block; n -= block, x += block)
    found = max(found, max(load_words(x) & magnitude, load_words(x + half) & magnitude));
  for (; n > 0; n -= half, x += half)
    found = max(found, (n >= half ? load_words(x) : load_first_words(x, n)) & magnitude);
  return largest_of_pairs(found);
}
OFP8_VEC u32v maxima(const detail::numbers& x, std::ptrdiff_t first, std::ptrdiff_t n) noexcept {
  if (x.type == detail::number_type::float32)
    return maxima_of_32(static_cast<const float*>(x.data) + first, n);
  return maxima_of_16(static_cast<const std::uint16_t*>(x.data) + first, n);
}

OFP8_VEC u32v counted(f32v x, u32v limit) noexcept {
  const u32v a = bits(x) & splat(detail::float_magnitude);
  return select(above(a, limit), splat(0u), a);
}
/// Without the magnitudes above `limit` (float bits).
OFP8_KERNEL std::uint32_t amax_up_to(const detail::numbers& x, std::ptrdiff_t first, std::ptrdiff_t n,
                                     std::uint32_t limit) noexcept {
  const u32v most = splat(limit);
  u32v found = splat(0u);
  for (std::ptrdiff_t i = 0; i < n; i += block) {
    const quad<f32v> q = load4(x, first + i, n - i);
    found = max(
        found, max(max(counted(q.a, most), counted(q.b, most)), max(counted(q.c, most), counted(q.d, most))));
  }
  return largest(found);
}

/// Float bits of magnitudes of that type: scalar::load, for vectors.
OFP8_VEC u32v float_bits_of(detail::number_type type, u32v magnitude) noexcept {
  if (type == detail::number_type::bfloat16) return shift_left<16>(magnitude);
  if (type == detail::number_type::float32) return magnitude;
  const u32v smallest = splat(113u << 23), rebias = splat(112u << 23);
  const u32v m = shift_left<13>(magnitude);
  const u32v subnormal = bits(floats(m + smallest) - floats(smallest));
  const u32v finite = select(above(splat(1u << 23), m), subnormal, m + rebias);
  return select(above(splat(31u << 23), m), finite, m + rebias + rebias);
}

// A single group: one vector of maxima.
OFP8_VEC std::uint32_t amax_of_all(const detail::numbers& x, std::ptrdiff_t n, std::uint32_t limit,
                                   std::uint32_t* amax) noexcept {
  const std::uint32_t largest_number = largest(float_bits_of(x.type, maxima(x, 0, n)));
  const std::uint32_t found = largest_number > limit ? amax_up_to(x, 0, n, limit) : largest_number;
  if (found > *amax) *amax = found;
  return largest_number;
}

/// Groups are done by as many as a vector has lanes: their vectors of maxima are reduced together.
OFP8_VEC u32v amax_of_groups(const detail::numbers& x, std::ptrdiff_t first, std::ptrdiff_t n,
                             std::ptrdiff_t group, std::uint32_t limit, std::uint32_t* amax) noexcept {
  u32v maxima_of_group[lanes];
  std::ptrdiff_t groups = 0;
  for (std::ptrdiff_t i = first; groups < lanes && i < n; ++groups, i += group)
    maxima_of_group[groups] = maxima(x, i, n - i < group ? n - i : group);
  for (std::ptrdiff_t g = groups; g < lanes; ++g) maxima_of_group[g] = splat(0u);
  const u32v largest_numbers = float_bits_of(x.type, largest_of_each(maxima_of_group));
  u32v found = largest_numbers;
  if (any(above(found, splat(limit)))) {
    std::uint32_t of_group[lanes];
    store(of_group, found);
    for (std::ptrdiff_t g = 0, i = first; g < groups; ++g, i += group)
      if (of_group[g] > limit) of_group[g] = amax_up_to(x, i, n - i < group ? n - i : group, limit);
    found = load(of_group);
  }
  store_first(amax, groups, max(load_first(amax, groups), found));
  return largest_numbers;
}

OFP8_KERNEL std::uint32_t amax_of_row(const detail::numbers& x, std::ptrdiff_t n, std::ptrdiff_t group,
                                      amax_rule rule, std::uint32_t* amax) noexcept {
  const std::uint32_t limit = detail::amax_limit(rule);
  if (n == 0) return 0;
  if (n <= group) return amax_of_all(x, n, limit, amax);
  u32v largest_numbers = splat(0u);
  for (std::ptrdiff_t first = 0; first < n; first += lanes * group, amax += lanes)
    largest_numbers = max(largest_numbers, amax_of_groups(x, first, n, group, limit, amax));
  return largest(largest_numbers);
}
