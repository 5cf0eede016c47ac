// SPDX-License-Identifier: Apache-2.0
// ofp8: how far an approximation is from its reference: SQNR in dB, largest and mean absolute error, cosine
// similarity. Operands are matrices (or views) of one shape, or ranges of one length, of float, bf16, fp16 or
// double.
//
//   double db = sqnr_db(w, dequantize(wq));
//   double worst = max_abs_error(reference, output);
//
// Everything is computed in double, serially, row after row in increasing index, so the numbers are
// reproducible. A NaN anywhere makes the result NaN; infinities follow the formulas.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/ops/range.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {
namespace detail {

template <class T>
concept measurable_number = wide_number<T> || std::same_as<T, double>;
template <class X>
concept measurable_matrix =
    matrix_like<const X> && measurable_number<std::remove_const_t<element_of<const X>>>;
template <class X>
concept measurable = measurable_matrix<X> || measurable_number<input_element<X>>;

}  // namespace detail
}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_metric(const char* function, detail::extent reference,
                                                 detail::extent approximation) {
  detail::message m;
  m << function << ": reference is " << reference << ", approximation is " << approximation
    << ": shapes differ";
  detail::fail<shape_error>(m);
}

// A range is a matrix of one row.
template <detail::measurable X>
inline auto measured_view(const X& x) {
  if constexpr (detail::measurable_matrix<X>) {
    return matrix_view<const std::remove_const_t<element_of<const X>>>(as_view(x));
  } else {
    const std::span<const detail::input_element<X>> row(x);
    return matrix_view<const detail::input_element<X>>(row.data(), 1,
                                                       static_cast<std::ptrdiff_t>(row.size()));
  }
}

OFP8_INLINE double as_double(double x) noexcept { return x; }
template <detail::wide_number T>
OFP8_INLINE double as_double(T x) noexcept {
  return static_cast<double>(scalar::load_float(x));
}

/// Calls f(reference, approximation) for every pair, in order; returns their number.
template <class R, class A, class F>
inline std::ptrdiff_t for_each_pair(const char* function, const R& reference, const A& approximation, F f) {
  const auto r = measured_view(reference);
  const auto a = measured_view(approximation);
  if (r.rows() != a.rows() || r.cols() != a.cols())
    refuse_metric(function, {r.rows(), r.cols()}, {a.rows(), a.cols()});
  for (std::ptrdiff_t i = 0; i < r.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < r.cols(); ++j) f(as_double(r(i, j)), as_double(a(i, j)));
  return r.rows() * r.cols();
}

// fma, because a compiler may contract what is written as a product and a sum, or may not.
OFP8_INLINE double plus_product(double sum, double a, double b) noexcept { return __builtin_fma(a, b, sum); }

inline constexpr std::uint64_t double_magnitude = 0x7fff'ffff'ffff'ffffu;
inline constexpr std::uint64_t double_infinity = 0x7ff0'0000'0000'0000u;
OFP8_INLINE bool is_zero(double x) noexcept { return (detail::bits_of(x) & double_magnitude) == 0; }
OFP8_INLINE bool is_nan(double x) noexcept {
  return (detail::bits_of(x) & double_magnitude) > double_infinity;
}

inline double decibels(double signal, double noise) noexcept {
  if (is_nan(signal) || is_nan(noise)) return detail::double_from_bits(0x7ff8'0000'0000'0000u);
  if (is_zero(noise)) return detail::double_from_bits(double_infinity);
  if (is_zero(signal)) return -detail::double_from_bits(double_infinity);
  return 10.0 * std::log10(signal / noise);
}

// Position of a number on its type's lattice: neighbours differ by one, -0 and +0 not at all.
OFP8_INLINE std::int64_t lattice_position(float x) noexcept {
  const auto magnitude = static_cast<std::int64_t>(detail::magnitude_bits(x));
  return (detail::bits_of(x) & detail::float_sign) != 0 ? -magnitude : magnitude;
}
template <fp16_type T>
OFP8_INLINE std::int64_t lattice_position(T x) noexcept {
  const auto magnitude = static_cast<std::int64_t>(x.bits() & T::spec.magnitude_mask());
  return (x.bits() & T::spec.sign_mask()) != 0 ? -magnitude : magnitude;
}
OFP8_INLINE bool is_nan_number(float x) noexcept { return detail::is_nan(x); }
template <fp16_type T>
OFP8_INLINE bool is_nan_number(T x) noexcept {
  return isnan(x);
}

}  // namespace impl

/// Numbers of T (float, bf16 or fp16) from a to b: 0 for equal numbers and for two NaNs, INT64_MAX between a NaN and a
/// number; infinity is the neighbour of the largest finite number.
template <detail::wide_number T>
[[nodiscard]] inline std::int64_t ulp_distance(T a, T b) noexcept {
  const bool a_nan = impl::is_nan_number(a), b_nan = impl::is_nan_number(b);
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : INT64_MAX;
  const std::int64_t distance = impl::lattice_position(a) - impl::lattice_position(b);
  return distance < 0 ? -distance : distance;
}

/// The largest ulp_distance of two matrices of one shape and one element type; 0 for nothing. Throws shape_error.
template <matrix_like X>
requires detail::wide_number<std::remove_const_t<element_of<const X>>>
[[nodiscard]] inline std::int64_t max_ulp_distance(const X& reference, const X& approximation) {
  const auto r = as_view(reference), a = as_view(approximation);
  if (r.rows() != a.rows() || r.cols() != a.cols())
    impl::refuse_metric("max_ulp_distance", {r.rows(), r.cols()}, {a.rows(), a.cols()});
  std::int64_t largest = 0;
  for (std::ptrdiff_t i = 0; i < r.rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < r.cols(); ++j) {
      const std::int64_t distance = ulp_distance(r(i, j), a(i, j));
      if (distance > largest) largest = distance;
    }
  }
  return largest;
}

/// Signal to quantization noise ratio, 10 log10(sum r^2 / sum (r - a)^2), in dB. +Inf where nothing differs,
/// -Inf where the reference is all zero and the approximation is not. Throws shape_error when the shapes
/// differ, as all functions here do.
template <detail::measurable R, detail::measurable A>
[[nodiscard]] inline double sqnr_db(const R& reference, const A& approximation) {
  const detail::fp_environment_guard guard;
  double signal = 0.0, noise = 0.0;
  impl::for_each_pair("sqnr_db", reference, approximation, [&](double r, double a) {
    const double error = r - a;
    signal = impl::plus_product(signal, r, r);
    noise = impl::plus_product(noise, error, error);
  });
  return impl::decibels(signal, noise);
}

/// max |r - a|; 0 for nothing.
template <detail::measurable R, detail::measurable A>
[[nodiscard]] inline double max_abs_error(const R& reference, const A& approximation) {
  const detail::fp_environment_guard guard;
  std::uint64_t largest = 0;  // magnitudes are ordered like their bits, NaN above all
  impl::for_each_pair("max_abs_error", reference, approximation, [&](double r, double a) {
    const std::uint64_t error = detail::bits_of(r - a) & impl::double_magnitude;
    if (error > largest) largest = error;
  });
  return detail::double_from_bits(largest);
}

/// sum |r - a| / count; 0 for nothing.
template <detail::measurable R, detail::measurable A>
[[nodiscard]] inline double mean_abs_error(const R& reference, const A& approximation) {
  const detail::fp_environment_guard guard;
  double sum = 0.0;
  const std::ptrdiff_t count =
      impl::for_each_pair("mean_abs_error", reference, approximation, [&](double r, double a) {
        sum += detail::double_from_bits(detail::bits_of(r - a) & impl::double_magnitude);
      });
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

/// sum r a / sqrt(sum r^2 * sum a^2), of all elements as one vector. 1 where both are all zero, 0 where one
/// is.
template <detail::measurable R, detail::measurable A>
[[nodiscard]] inline double cosine_similarity(const R& reference, const A& approximation) {
  const detail::fp_environment_guard guard;
  double rr = 0.0, aa = 0.0, ra = 0.0;
  impl::for_each_pair("cosine_similarity", reference, approximation, [&](double r, double a) {
    rr = impl::plus_product(rr, r, r);
    aa = impl::plus_product(aa, a, a);
    ra = impl::plus_product(ra, r, a);
  });
  if (impl::is_zero(rr) && impl::is_zero(aa)) return 1.0;
  if (!impl::is_nan(ra) && (impl::is_zero(rr) || impl::is_zero(aa))) return 0.0;
  return ra / (std::sqrt(rr) * std::sqrt(aa));
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
