// SPDX-License-Identifier: Apache-2.0
// ofp8: to_fnuz(q) and to_ocp(q), scaled codes from the OCP formats to AMD's FNUZ formats (CDNA3) and back. The
// exponent biases differ by one, so the same byte is half as much in FNUZ: bytes stay, the scale doubles.
//
//   auto on_mi300 = to_fnuz(wq);            // e4m3 -> e4m3fnuz, e5m2 -> e5m2fnuz
//   auto back = to_ocp(on_mi300);
//
// Exact, with these exceptions: byte 80 (-0) becomes 00, because 80 is the NaN of FNUZ; an infinity (e5m2) and,
// on the way back, the FNUZ bytes that OCP has no finite number for (7f and ff in e4m3fnuz, 7c .. 7f and fc ..
// ff in e5m2fnuz) become the largest number with the same sign, and are counted as saturated. NaN stays NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/ops/dequantize.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/scale/static_scale.hpp>

namespace ofp8 {
namespace detail {

template <class E>
struct other_bias {};
template <>
struct other_bias<e4m3> {
  using type = e4m3fnuz;
};
template <>
struct other_bias<e5m2> {
  using type = e5m2fnuz;
};
template <>
struct other_bias<e4m3fnuz> {
  using type = e4m3;
};
template <>
struct other_bias<e5m2fnuz> {
  using type = e5m2;
};

template <class Q>
concept ocp_codes = scaled_codes<Q> && code_of<const Q>::spec.has_minus_zero();
template <class Q>
concept fnuz_codes = scaled_codes<Q> && !code_of<const Q>::spec.has_minus_zero();

}  // namespace detail

/// The FNUZ format of an OCP format with the same fields, and the other way round.
template <fp8_type E>
using other_bias = typename detail::other_bias<E>::type;

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_rebias(const char* function, std::ptrdiff_t i, std::ptrdiff_t j,
                                                 float scale, float factor) {
  detail::message m;
  m << function << ": scale (" << std::int64_t{i} << ", " << std::int64_t{j} << ") is "
    << static_cast<double>(scale) << ", times " << static_cast<double>(factor)
    << " it is no number of its type";
  detail::fail<argument_error>(m);
}

template <fp8_type From>
inline other_bias<From> rebiased(From x, quantize_counts& counts) noexcept {
  using to = other_bias<From>;
  if (isnan(x)) {
    ++counts.nan;
    return to::from_bits(to::spec.canonical_nan());
  }
  const unsigned magnitude = x.bits() & From::spec.magnitude_mask(), sign = x.bits() & From::spec.sign_mask();
  const unsigned largest = to::spec.largest_code();
  const bool too_large = isinf(x) || magnitude > largest;
  if (too_large) ++counts.saturated;
  if (magnitude == 0) return to::from_bits(to::spec.has_minus_zero() ? sign : 0);
  return to::from_bits((too_large ? largest : magnitude) | sign);
}

// 0, infinity and NaN stay; any other scale must survive the factor, which is a power of two, exactly.
template <class Scale>
inline Scale rebiased_scale(const char* function, Scale s, float factor, std::ptrdiff_t i, std::ptrdiff_t j) {
  const float before = static_cast<float>(s);
  const std::uint32_t magnitude = detail::magnitude_bits(before);
  if (magnitude == 0 || magnitude >= detail::float_infinity) return s;
  const float product = before * factor;
  const Scale stored = detail::stored_scale<Scale>(product);
  const float after = static_cast<float>(stored);
  const bool exact = detail::bits_of(after) == detail::bits_of(product) && detail::is_finite(after) &&
                     detail::bits_of(after * (1.0f / factor)) == detail::bits_of(before);
  if (!exact) refuse_rebias(function, i, j, before, factor);
  return stored;
}

template <class Q>
inline auto rebias(const char* function, const Q& q, float factor, quantize_counts& counts) {
  const detail::fp_environment_guard guard;
  using from = code_of<const Q>;
  using g = granularity_of<const Q>;
  const scaled_view<const from, g> in = as_scaled_view(q);
  scaled_matrix<other_bias<from>, g> out(in.rows(), in.cols());
  for (std::ptrdiff_t i = 0; i < in.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < in.scales().cols(); ++j)
      out.scales()(i, j) = rebiased_scale<typename g::scale_type>(function, in.scales()(i, j), factor, i, j);
  quantize_counts found;
  for (std::ptrdiff_t r = 0; r < in.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < in.cols(); ++c) out.codes()(r, c) = rebiased(in.codes()(r, c), found);
  counts += found;
  return out;
}

}  // namespace impl

/// OCP codes and scales as FNUZ codes and doubled scales; adds saturated and NaN elements to `counts`. Throws
/// argument_error where twice a scale is no number of the scale's type.
template <detail::ocp_codes Q>
[[nodiscard]] inline auto to_fnuz(const Q& q, quantize_counts& counts) {
  return impl::rebias("to_fnuz", q, 2.0f, counts);
}
template <detail::ocp_codes Q>
[[nodiscard]] inline auto to_fnuz(const Q& q) {
  quantize_counts counts;
  return to_fnuz(q, counts);
}
/// FNUZ codes and scales as OCP codes and halved scales; adds saturated and NaN elements to `counts`. Throws
/// argument_error where half a scale is no number of the scale's type.
template <detail::fnuz_codes Q>
[[nodiscard]] inline auto to_ocp(const Q& q, quantize_counts& counts) {
  return impl::rebias("to_ocp", q, 0.5f, counts);
}
template <detail::fnuz_codes Q>
[[nodiscard]] inline auto to_ocp(const Q& q) {
  quantize_counts counts;
  return to_ocp(q, counts);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
