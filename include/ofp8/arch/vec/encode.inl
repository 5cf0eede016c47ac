// SPDX-License-Identifier: Apache-2.0
// ofp8: numbers to codes: encode and quantize. Text for a kernel namespace: arch/vec/codec.inl. What is done the
// usual way and what by the rule in full: arch/vec/codec_steps.hpp.

// --- the usual way -------------------------------------------------------------------------------------------

/// What the numbers of a quad meet, by their groups.
struct group_vectors {
  quad<u32v> limit;  // larger magnitudes are replaced by it before they are scaled
  quad<f32v> operand, reciprocal;
};

OFP8_VEC f32v quotient(f32v x, f32v s, f32v r) noexcept {
  const f32v q = x * r;
  return fma(fnma(q, s, x), r, q);
}
OFP8_VEC quad<f32v> scaled(const quad<f32v>& x, const group_vectors& g, scaling how) noexcept {
  const quad<f32v>&o = g.operand, &r = g.reciprocal;
  if (how == scaling::quotient)
    return {quotient(x.a, o.a, r.a), quotient(x.b, o.b, r.b), quotient(x.c, o.c, r.c),
            quotient(x.d, o.d, r.d)};
  if (how == scaling::product) return {x.a * o.a, x.b * o.b, x.c * o.c, x.d * o.d};
  return x;
}

/// The codes of a quad. Its magnitudes are clamped, and merged into `seen`, unless they are in range.
OFP8_VEC u8v usual_codes(const quad<f32v>& x, const group_vectors& g, scaling how, bool in_range,
                         const rounding& k, u32v& seen) noexcept {
  const quad<u32v> u{bits(x.a), bits(x.b), bits(x.c), bits(x.d)};
  quad<u32v> m{u.a & k.magnitude, u.b & k.magnitude, u.c & k.magnitude, u.d & k.magnitude};
  if (!in_range) {
    seen = max(seen, max(max(m.a, m.b), max(m.c, m.d)));
    m = {min(m.a, g.limit.a), min(m.b, g.limit.b), min(m.c, g.limit.c), min(m.d, g.limit.d)};
  }
  const quad<f32v> a = scaled({floats(m.a), floats(m.b), floats(m.c), floats(m.d)}, g, how);
  const u8v codes = k.bytes(packing::low_bytes({k.round(a.a), k.round(a.b), k.round(a.c), k.round(a.d)}));
  u8v signs = packing::signs(u);
  if (!k.has_minus_zero) signs = where_nonzero(codes, signs);
  return packing::in_order(or_and(codes, signs, splat(std::uint8_t{0x80})));
}

/// What the groups of a stretch meet.
struct stretch_operands {
  static constexpr std::ptrdiff_t most = detail::stretch_size / lanes;
  const float* operands;
  float reciprocals[most];
  std::uint32_t limits[most];
};

/// False where an operand is not usual.
OFP8_VEC bool prepare(const detail::stretch& s, const detail::code_task& t, stretch_operands& o) noexcept {
  const detail::operand_range range = detail::usual_operands(t.how);
  const f32v clamp = floats(splat(t.rule.encode.clamp));
  o.operands = t.operands + s.first_group;
  for (std::ptrdiff_t g = 0; g < s.groups; g += lanes) {
    const std::ptrdiff_t left = s.groups - g;
    const f32v operand = load_first(o.operands + g, left < lanes ? left : lanes);
    if (any(above(splat(range.first), bits(operand)) & first_lanes(left))) return false;
    if (any(above(bits(operand), splat(range.last)))) return false;
    store(o.reciprocals + g, splat(1.0f) / operand);
    store(o.limits + g, bits(t.how == scaling::product ? clamp / operand : clamp * operand));
  }
  return true;
}

OFP8_VEC quad<f32v> same4(float x) noexcept {
  const f32v v = splat(x);
  return {v, v, v, v};
}
OFP8_VEC quad<u32v> same4(std::uint32_t x) noexcept {
  const u32v v = splat(x);
  return {v, v, v, v};
}

/// What does not change along a row.
struct usual_rule {
  detail::numbers x;
  std::uint8_t* out;
  scaling how;
  bool in_range;
};
OFP8_INLINE usual_rule usual_rule_of(const detail::code_task& t) noexcept {
  return {t.x, t.out, t.how, t.rule.in_range};
}

/// Numbers [first, last) of a row, which meet the same vectors.
OFP8_VEC void usual_run(const usual_rule& r, std::ptrdiff_t first, std::ptrdiff_t last,
                        const group_vectors& g, const rounding& k, u32v& seen) noexcept {
  for (std::ptrdiff_t i = first; i < last; i += block)
    store_codes(r.out + i, last - i, usual_codes(load4(r.x, i, last - i), g, r.how, r.in_range, k, seen));
}

/// Groups of a quad and more, or a single one.
OFP8_VEC void usual_groups(const detail::stretch& s, const usual_rule& r, const stretch_operands& o,
                           const rounding& k, u32v& seen) noexcept {
  const std::ptrdiff_t last = s.first + s.size;
  std::ptrdiff_t i = s.first;
  for (std::ptrdiff_t g = 0; g < s.groups; ++g, i += s.group) {
    const group_vectors v{same4(o.limits[g]), same4(o.operands[g]), same4(o.reciprocals[g])};
    usual_run(r, i, last - i < s.group ? last : i + s.group, v, k, seen);
  }
}

/// Groups of some whole vectors: a quad at a time, each vector of which has its own group.
OFP8_VEC void usual_small_groups(const detail::stretch& s, const usual_rule& r, const stretch_operands& o,
                                 const rounding& k, u32v& seen) noexcept {
  std::ptrdiff_t g[4] = {0, 0, 0, 0};
  std::ptrdiff_t group = 0, left = s.group;
  const std::ptrdiff_t last = s.first + s.size;
  for (std::ptrdiff_t i = s.first; i < last; i += block) {
    for (std::ptrdiff_t& of_vector : g) {
      of_vector = group;
      left -= lanes;
      if (left == 0 && group + 1 < s.groups) {
        ++group;
        left = s.group;
      }
    }
    const group_vectors v{
        {splat(o.limits[g[0]]), splat(o.limits[g[1]]), splat(o.limits[g[2]]), splat(o.limits[g[3]])},
        {splat(o.operands[g[0]]), splat(o.operands[g[1]]), splat(o.operands[g[2]]), splat(o.operands[g[3]])},
        {splat(o.reciprocals[g[0]]), splat(o.reciprocals[g[1]]), splat(o.reciprocals[g[2]]),
         splat(o.reciprocals[g[3]])}};
    usual_run(r, i, last - i < block ? last : i + block, v, k, seen);
  }
}

/// False where something was unusual; the codes are wrong then.
OFP8_VEC bool codes_usually(const detail::stretch& s, const detail::code_task& t,
                            const rounding& k) noexcept {
  const usual_rule r = usual_rule_of(t);
  u32v seen = splat(0u);
  if (t.how == scaling::none) {
    const group_vectors v{same4(t.rule.encode.clamp), same4(1.0f), same4(1.0f)};
    usual_run(r, s.first, s.first + s.size, v, k, seen);
  } else {
    stretch_operands o;
    const bool large = s.group >= block || s.groups == 1;
    if ((!large && s.group % lanes != 0) || !prepare(s, t, o)) return false;
    if (large)
      usual_groups(s, r, o, k, seen);
    else
      usual_small_groups(s, r, o, k, seen);
  }
  return !any(above(seen, splat(detail::usual_up_to(*t.format, t.rule.encode))));
}

// --- by the rule in full -------------------------------------------------------------------------------------

/// scalar::round_to_code, for vectors.
OFP8_VEC u32v code_by_rule(u32v x, const rounding& k, const encode_rule& rule) noexcept {
  const u32v magnitude = x & k.magnitude;
  const u32v a = min(magnitude, splat(rule.clamp));
  const rounding::sum r = k.add(floats(a));
  u32v code = k.exact_code(r);
  if (rule.toward_zero) code = select(above(bits(r.total - r.addend), a), code - splat(1u), code);
  const mask32 nan = above(magnitude, splat(detail::float_infinity));
  code = select(equal(magnitude, splat(detail::float_infinity)), splat(std::uint32_t{rule.infinity}), code);
  code = select(nan, splat(std::uint32_t{rule.nan}), code);
  u32v sign = select(nan, splat(std::uint32_t{rule.nan_sign}), splat(0x80u));
  if (!k.has_minus_zero) sign = select(equal(code, splat(0u)), splat(0u), sign);
  return code | (shift_right<24>(x) & sign);
}

/// What is rounded to a code: x, scaled, and rounded before where the recipe computes in 16 bits.
OFP8_VEC f32v scaled_by_rule(f32v x, f32v operand, scaling how, const quantize_rule& rule) noexcept {
  if (how == scaling::none) return x;
  f32v q = x * operand;
  if (how == scaling::quotient) q = x / operand;
  if (rule.quotient == quantize_rule::quotient_type::to_bf16)
    q = floats(rounded_to_bf16(canonical(q)) & splat(0xffff'0000u));
  if (rule.quotient == quantize_rule::quotient_type::to_fp16) q = through_fp16(q);
  if (rule.on_minus_zero == minus_zero_rule::drop)
    q = floats(select(equal(bits(q), splat(detail::float_sign)), splat(0u), bits(q)));
  const u32v signed_nan = splat(detail::float_quiet_nan) | (bits(x) & splat(detail::float_sign));
  return floats(select(is_nan(q), signed_nan, bits(q)));
}

/// Of the first n lanes.
OFP8_VEC void count_lanes(f32v x, f32v q, std::ptrdiff_t n, const detail::count_thresholds& limits,
                          quantize_counts& counts) noexcept {
  const mask32 valid = first_lanes(n);
  const u32v a = bits(q) & splat(detail::float_magnitude);
  const mask32 nan = is_nan(q) & valid;
  const mask32 saturated = above(a, splat(limits.saturated_above)) & valid;
  const mask32 nonzero = above(bits(x) & splat(detail::float_magnitude), splat(0u)) & valid;
  counts.nan += count(nan);
  counts.saturated += count(without(saturated, nan));
  counts.flushed += count(without(nonzero, above(a, splat(limits.flushed_up_to))));
}

OFP8_VEC u8v codes_by_rule(const quad<f32v>& x, const quad<f32v>& operands, std::ptrdiff_t left,
                           const rounding& k, const detail::count_thresholds& limits,
                           const detail::code_task& t) noexcept {
  const quad<f32v> q{
      scaled_by_rule(x.a, operands.a, t.how, t.rule), scaled_by_rule(x.b, operands.b, t.how, t.rule),
      scaled_by_rule(x.c, operands.c, t.how, t.rule), scaled_by_rule(x.d, operands.d, t.how, t.rule)};
  if (t.counts != nullptr) {
    count_lanes(x.a, q.a, left, limits, *t.counts);
    count_lanes(x.b, q.b, left - lanes, limits, *t.counts);
    count_lanes(x.c, q.c, left - 2 * lanes, limits, *t.counts);
    count_lanes(x.d, q.d, left - 3 * lanes, limits, *t.counts);
  }
  const encode_rule& rule = t.rule.encode;
  return packing::in_order(
      packing::low_bytes({code_by_rule(bits(q.a), k, rule), code_by_rule(bits(q.b), k, rule),
                          code_by_rule(bits(q.c), k, rule), code_by_rule(bits(q.d), k, rule)}));
}

/// The values of numbers i, i + 1 ... of a row of n, where values[g] is group g's.
OFP8_VEC quad<f32v> values_at(const float* values, std::ptrdiff_t group, std::ptrdiff_t i,
                              std::ptrdiff_t n) noexcept {
  std::ptrdiff_t g = i / group;
  std::ptrdiff_t left = (g + 1) * group - i;
  if (left >= block || n - i <= left) return same4(values[g]);
  float of_number[block];
  for (std::ptrdiff_t j = 0; j < block; ++j, --left) {
    if (left == 0 && i + j < n) {
      left = group;
      ++g;
    }
    of_number[j] = values[g];
  }
  return load_quad(of_number);
}

OFP8_KERNEL void codes_by_rule(const detail::stretch& s, const detail::code_task& t) noexcept {
  const rounding k = rounding::make(*t.format);
  const detail::count_thresholds limits = detail::count_thresholds_for(*t.format, t.rule.encode.toward_zero);
  quad<f32v> operands = same4(1.0f);
  for (std::ptrdiff_t i = 0; i < s.size; i += block) {
    const std::ptrdiff_t left = s.size - i;
    if (t.how != scaling::none) operands = values_at(t.operands + s.first_group, s.group, i, s.size);
    store_codes(t.out + s.first + i, left,
                codes_by_rule(load4(t.x, s.first + i, left), operands, left, k, limits, t));
  }
}

OFP8_KERNEL void codes_of_row(const detail::code_task& t) noexcept {
  const bool usual = detail::may_be_usual(t);
  const rounding k = rounding::make(*t.format);
  for (detail::stretches row(t.n, t.group); !row.done();) {
    const detail::stretch s = row.next();
    if (!usual || !codes_usually(s, t, k)) codes_by_rule(s, t);
  }
}

template <class E, class In>
inline void encode(const In* x, std::ptrdiff_t n, const encode_rule& rule, E* out) noexcept {
  if (n == 0) return;
  codes_of_row({.format = &E::spec,
                .x = detail::numbers_of(x),
                .n = n,
                .group = n,
                .how = scaling::none,
                .operands = nullptr,
                .rule = {.encode = rule, .divide = false},
                .out = &out->code,
                .counts = nullptr});
}
template <class E, class In>
inline void quantize(const In* x, std::ptrdiff_t n, std::ptrdiff_t group, const float* operands,
                     const quantize_rule& rule, E* out, quantize_counts* counts) noexcept {
  codes_of_row({.format = &E::spec,
                .x = detail::numbers_of(x),
                .n = n,
                .group = group,
                .how = rule.divide ? scaling::quotient : scaling::product,
                .operands = operands,
                .rule = rule,
                .out = &out->code,
                .counts = counts});
}
