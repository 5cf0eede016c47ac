// SPDX-License-Identifier: Apache-2.0
// ofp8: codes of one format times a power of two as codes of another, and which of them lose nothing: the
// lossless half of requantize.
#pragma once

#include <cstdint>
#include <type_traits>

#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/float8.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// Whether a = b * 2^k for some k, which is stored. Equal bits are (0, infinity and NaN too); else both are
/// positive and normal.
inline bool is_power_ratio(float a, float b, int& k) noexcept {
  const std::uint32_t x = detail::bits_of(a), y = detail::bits_of(b);
  k = 0;
  if (x == y) return true;
  const auto normal = [](std::uint32_t bits) {
    return bits >= detail::float_smallest_normal && bits < detail::float_infinity;
  };
  if (!normal(x) || !normal(y) || ((x ^ y) & 0x7f'ffff) != 0) return false;
  k = static_cast<int>(x >> 23) - static_cast<int>(y >> 23);
  return true;
}

/// From * 2^k as To, for every code.
template <fp8_type From, fp8_type To>
class shift_table {
 public:
  /// Remakes the table where k is another than before.
  void set(int k) noexcept {
    if (ready_ && k == k_) return;
    for (unsigned c = 0; c < 256; ++c) fill(From::from_bits(c), k);
    k_ = k;
    ready_ = true;
  }
  To code(From x) const noexcept { return To::from_bits(codes_[x.bits()]); }
  bool is_exact(From x) const noexcept { return exact_[x.bits()]; }

 private:
  void fill(From x, int k) noexcept {
    const auto put = [&](unsigned code, bool exact) {
      codes_[x.bits()] = static_cast<std::uint8_t>(code);
      exact_[x.bits()] = exact;
    };
    constexpr bool same_format = std::is_same_v<From, To>;
    if (isnan(x)) return put(same_format ? x.bits() : To::spec.canonical_nan(), true);
    if (isinf(x) || (x.bits() & From::spec.magnitude_mask()) == 0 || k < -100 || k > 100) {
      const To same = convert<To, nonsaturating>(float(x));
      return put(same.bits(), !isnan(same) && (isinf(x) || float(x) == 0.0f));
    }
    const float shifted = float(x) * detail::power_of_two(k);  // exact: both factors are far from the limits
    const To rounded = convert<To, nonsaturating>(shifted);
    put(rounded.bits(), isfinite(rounded) && detail::bits_of(float(rounded)) == detail::bits_of(shifted));
  }

  std::uint8_t codes_[256];
  bool exact_[256];
  int k_ = 0;
  bool ready_ = false;
};

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
