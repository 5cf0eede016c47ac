// SPDX-License-Identifier: Apache-2.0
// ofp8: the small floating-point formats as data. A format is six numbers; limits, conversion constants and
// special codes are derived from them, never typed in.
//
//   e4m3 (OCP "FN")   s eeee mmm   bias 7,  448 max, no infinity, NaN 7f ff
//   e5m2 (OCP)        s eeeee mm   bias 15, 57344 max, infinity 7c, NaN 7d 7e 7f
//   e4m3fnuz, e5m2fnuz (AMD CDNA3) bias 8, 16; no infinity, no minus zero, the single NaN is 80
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>

namespace ofp8 {

/// What the codes beyond the largest finite number mean.
enum class special_codes : std::uint8_t {
  ieee,              ///< all-ones exponent: infinity where the mantissa is 0, NaN elsewhere
  nan_at_all_ones,   ///< one NaN per sign, all ones; no infinity (OCP E4M3, "FN")
  nan_at_minus_zero  ///< one NaN, the code of minus zero; no infinity, no minus zero ("FNUZ")
};

/// A binary floating-point format with a sign bit, exponent and mantissa field. All code values are
/// magnitudes, that is, without the sign bit.
struct format_spec {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  special_codes specials;

  OFP8_INLINE_MEMBER constexpr int bits() const noexcept { return 1 + exponent_bits + mantissa_bits; }
  OFP8_INLINE_MEMBER constexpr std::uint32_t sign_mask() const noexcept { return 1u << (bits() - 1); }
  OFP8_INLINE_MEMBER constexpr std::uint32_t magnitude_mask() const noexcept { return sign_mask() - 1; }
  OFP8_INLINE_MEMBER constexpr bool has_infinity() const noexcept { return specials == special_codes::ieee; }
  OFP8_INLINE_MEMBER constexpr bool has_minus_zero() const noexcept {
    return specials != special_codes::nan_at_minus_zero;
  }

  /// Exponent of the smallest normal number: -6 in E4M3.
  OFP8_INLINE_MEMBER constexpr int min_exponent() const noexcept { return 1 - bias; }
  /// Exponent of the smallest subnormal number, the unit of the whole lattice: -9 in E4M3.
  OFP8_INLINE_MEMBER constexpr int quantum_exponent() const noexcept {
    return min_exponent() - mantissa_bits;
  }
  /// Exponent of the largest finite number: 8 in E4M3.
  OFP8_INLINE_MEMBER constexpr int max_exponent() const noexcept {
    return static_cast<int>(largest_code() >> mantissa_bits) - bias;
  }

  OFP8_INLINE_MEMBER constexpr std::uint32_t largest_code() const noexcept {
    switch (specials) {
      case special_codes::ieee:
        return infinity_code() - 1;
      case special_codes::nan_at_all_ones:
        return magnitude_mask() - 1;
      case special_codes::nan_at_minus_zero:
        break;
    }
    return magnitude_mask();
  }
  OFP8_INLINE_MEMBER constexpr std::uint32_t smallest_normal_code() const noexcept {
    return 1u << mantissa_bits;
  }
  /// Meaningful where has_infinity().
  OFP8_INLINE_MEMBER constexpr std::uint32_t infinity_code() const noexcept {
    return ((1u << exponent_bits) - 1) << mantissa_bits;
  }
  /// The NaN of convert(NaN) and numeric_limits::quiet_NaN(). FNUZ: the full code with its sign bit.
  OFP8_INLINE_MEMBER constexpr std::uint32_t canonical_nan() const noexcept {
    return has_minus_zero() ? magnitude_mask() : sign_mask();
  }

  /// `code` with its sign bit.
  OFP8_INLINE_MEMBER constexpr bool is_nan(std::uint32_t code) const noexcept {
    const std::uint32_t magnitude = code & magnitude_mask();
    if (!has_minus_zero()) return code == sign_mask();
    return magnitude > (has_infinity() ? infinity_code() : largest_code());
  }
  OFP8_INLINE_MEMBER constexpr bool is_infinity(std::uint32_t code) const noexcept {
    return has_infinity() && (code & magnitude_mask()) == infinity_code();
  }

  friend constexpr bool operator==(const format_spec&, const format_spec&) = default;
};

struct e4m3_format {
  static constexpr format_spec spec{4, 3, 7, special_codes::nan_at_all_ones};
  static constexpr const char* name = "e4m3";
};
struct e5m2_format {
  static constexpr format_spec spec{5, 2, 15, special_codes::ieee};
  static constexpr const char* name = "e5m2";
};
struct e4m3fnuz_format {
  static constexpr format_spec spec{4, 3, 8, special_codes::nan_at_minus_zero};
  static constexpr const char* name = "e4m3fnuz";
};
struct e5m2fnuz_format {
  static constexpr format_spec spec{5, 2, 16, special_codes::nan_at_minus_zero};
  static constexpr const char* name = "e5m2fnuz";
};
struct bf16_format {
  static constexpr format_spec spec{8, 7, 127, special_codes::ieee};
  static constexpr const char* name = "bf16";
};
struct fp16_format {
  static constexpr format_spec spec{5, 10, 15, special_codes::ieee};
  static constexpr const char* name = "fp16";
};

}  // namespace ofp8
