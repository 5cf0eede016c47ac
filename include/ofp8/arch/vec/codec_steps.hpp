// SPDX-License-Identifier: Apache-2.0
// ofp8: the decisions of the vector codec kernels that are not about vectors: what is usual, and how a row is cut.
//
// A stretch of a row is done the usual way first: nearest even, one quotient or product, no counts; infinities
// saturate or overflow by the clamp, NaN comes out as something. The largest magnitude is kept, and where it says
// that there was something unusual, the stretch is done again, by the rule in full.
//
// Formats and types of numbers are run-time constants of the kernels: a branch in a loop that goes the same way
// every time costs nothing, and a copy of the loop for each of them costs every user's compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/round.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_rounding.hpp>

namespace ofp8::detail {

/// A row of float, bf16 or fp16.
struct numbers {
  const void* data;
  number_type type;
};
template <class T>
OFP8_INLINE constexpr numbers numbers_of(const T* x) noexcept {
  return {x, number_type_of<T>};
}

/// How numbers become what is rounded to a code.
enum class scaling : std::uint8_t { none, product, quotient };

/// The whole of a kernel's task: n numbers, in groups with an operand each, to codes.
struct code_task {
  const format_spec* format;
  numbers x;
  std::ptrdiff_t n, group;
  scaling how;
  const float* operands;  ///< none for scaling::none
  quantize_rule rule;
  std::uint8_t* out;
  quantize_counts* counts;  ///< null: not counted
};

/// Whether clamping gives infinities their code.
OFP8_INLINE constexpr bool clamp_does_infinity(const format_spec& f, const encode_rule& rule) noexcept {
  const bool saturates = rule.clamp < first_overflow(f);
  return rule.infinity == f.largest_code() + (saturates ? 0 : 1);
}

/// Magnitudes (float bits) above this are unusual.
OFP8_INLINE constexpr std::uint32_t usual_up_to(const format_spec& f, const encode_rule& rule) noexcept {
  return clamp_does_infinity(f, rule) ? float_infinity : float_infinity - 1;
}

/// Whether any of it can be done the usual way. (A finite number may have an infinite quotient.)
OFP8_INLINE constexpr bool may_be_usual(const code_task& t) noexcept {
  return t.counts == nullptr && !t.rule.encode.toward_zero &&
         (t.how == scaling::none ||
          (t.rule.quotient == quantize_rule::quotient_type::f32 &&
           t.rule.on_minus_zero == minus_zero_rule::keep && clamp_does_infinity(*t.format, t.rule.encode)));
}

/// The operands (float bits) that are usual.
///
/// Magnitudes are clamped before they are scaled: to clamp * s or clamp / operand, which for these operands is a
/// normal float. One rounding away from the clamp, the result still has the clamp's code, and all that is larger has
/// it, too. A quotient x / s is computed as q = x * r, q + (x - q * s) * r with r = 1 / s, which lies on the same
/// side as x / s of every number that a rounding depends on: proven for s in [2^-60, 2^120], docs/numerics.md.
struct operand_range {
  std::uint32_t first, last;
};
OFP8_INLINE constexpr operand_range usual_operands(scaling how) noexcept {
  return how == scaling::quotient ? operand_range{bits_of(0x1p-60f), bits_of(0x1p+110f)}
                                  : operand_range{bits_of(0x1p-100f), bits_of(0x1p+100f)};
}

/// Numbers of a stretch, at most: 16 KiB of float, which stay in L1.
inline constexpr std::ptrdiff_t stretch_size = 4096;

/// A piece of a row: whole groups, or a part of one.
struct stretch {
  std::ptrdiff_t first, size;
  std::ptrdiff_t group,
      groups;                  ///< numbers that share an operand, counted from `first`; how many such groups
  std::ptrdiff_t first_group;  ///< of the row
};

/// The stretches of a row of n numbers, one after the other.
class stretches {
 public:
  OFP8_INLINE_MEMBER constexpr stretches(std::ptrdiff_t n, std::ptrdiff_t group) noexcept
      : n_(n), group_(group), groups_(group < n && group < stretch_size ? stretch_size / group : 1) {}

  OFP8_INLINE_MEMBER constexpr bool done() const noexcept { return first_ >= n_; }
  OFP8_INLINE_MEMBER constexpr stretch next() noexcept { return groups_ > 1 ? next_groups() : next_part(); }

 private:
  OFP8_INLINE_MEMBER constexpr stretch next_groups() noexcept {
    const std::ptrdiff_t whole = groups_ * group_, left = n_ - first_;
    stretch s{first_, whole, group_, groups_, first_group_};
    if (left < whole) {
      s.size = left;
      s.groups = (left + group_ - 1) / group_;
    }
    first_ += s.size;
    first_group_ += s.groups;
    return s;
  }
  OFP8_INLINE_MEMBER constexpr stretch next_part() noexcept {
    const std::ptrdiff_t of_group = (first_group_ + 1) * group_ - first_, left = n_ - first_;
    std::ptrdiff_t size = left < of_group ? left : of_group;
    if (size > stretch_size) size = stretch_size;
    const stretch s{first_, size, size, 1, first_group_};
    first_ += size;
    if (size == of_group) ++first_group_;
    return s;
  }

  std::ptrdiff_t n_, group_, groups_;
  std::ptrdiff_t first_ = 0, first_group_ = 0;
};

}  // namespace ofp8::detail
