// SPDX-License-Identifier: Apache-2.0
// ofp8: the scales of many groups at once, for those recipes whose scale is amax / MAX and at least a floor: a loop
// without branches, which compilers vectorize. With 128 numbers in a group scale_step_for, which knows every recipe,
// would take a third of the time of a quantization.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// Whether plain_scales knows the recipe, for amaxes that are finite.
template <class Scale>
inline constexpr bool has_plain_scales(const recipe& r) noexcept {
  return std::same_as<Scale, float> && detail::magnitude_bits(r.amax_ceiling) == detail::float_infinity &&
         detail::is_finite(r.amax_floor) && r.on_zero != zero_rule::epsilon_of_input_type &&
         (r.rule == scale_rule::amax_over_max || r.rule == scale_rule::amax_times_reciprocal) &&
         r.arithmetic == arithmetic::float32 && r.scale_floor_divisor <= 0.0f && r.power == power_rule::none;
}

/// What plain_scales computes with.
struct plain_scale_rule {
  std::uint32_t amax_floor, scale_floor;  // float bits
  std::uint32_t zero;                     // the scale of a group of zeros; 0: as computed
  float max, reciprocal_of_max;

  static constexpr plain_scale_rule of(const recipe& r, float max) noexcept {
    const std::uint32_t floor = r.scale_floor > 0.0f ? detail::bits_of(r.scale_floor) : 0;
    return {.amax_floor = detail::magnitude_bits(r.amax_floor),
            .scale_floor =
                floor > 0 && floor < detail::float_smallest_normal ? detail::float_smallest_normal : floor,
            .zero = r.on_zero == zero_rule::one ? detail::bits_of(1.0f) : 0,
            .max = max,
            .reciprocal_of_max = 1.0f / max};
  }
};

OFP8_INLINE std::uint32_t larger_bits(std::uint32_t a, std::uint32_t b) noexcept {
  return scalar::select(scalar::above(a, b), a, b);
}

template <bool Multiply>
OFP8_INLINE void plain_scales_of(const std::uint32_t* amax, std::ptrdiff_t n, const plain_scale_rule& r,
                                 float* scales) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t a = larger_bits(amax[i], r.amax_floor);
    const float x = detail::float_from_bits(a);
    const float computed = Multiply ? x * r.reciprocal_of_max : x / r.max;
    const std::uint32_t s = larger_bits(detail::bits_of(computed), r.scale_floor);
    const std::uint32_t zero = scalar::mask(a == 0) & scalar::mask(r.zero != 0);
    scales[i] = detail::float_from_bits(scalar::select(zero, r.zero, s));
  }
}

/// The scales of n groups with finite amaxes (float bits), as scale_step_for gives them.
inline void plain_scales(const std::uint32_t* amax, std::ptrdiff_t n, const recipe& how, float max,
                         float* scales) noexcept {
  constexpr std::ptrdiff_t block = 16;  // a constant count is vectorized at -O2, too
  const plain_scale_rule r = plain_scale_rule::of(how, max);
  std::ptrdiff_t i = 0;
  if (how.rule == scale_rule::amax_times_reciprocal) {
    plain_scales_of<true>(amax, n, r, scales);
  } else {
    for (; n - i >= block; i += block) plain_scales_of<false>(amax + i, block, r, scales + i);
    plain_scales_of<false>(amax + i, n - i, r, scales + i);
  }
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
