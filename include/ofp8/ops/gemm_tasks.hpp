// SPDX-License-Identifier: Apache-2.0
// ofp8: the loops of a GEMM around the kernels: activations decoded block by block, scales gathered, tiles
// multiplied, the epilogue. Everything is noexcept here and works in memory that it is given.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/gemm_operands.hpp>
#include <ofp8/ops/gemm_plan.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

struct gemm_problem {
  activation_operand a;
  weight_operand b;
  output_operand d;
  combine_rule combine;
  bool even_cuts;  // every cut inside K is even
};

/// Rules 2 to 4: one scale for all of K multiplies the sum, with an addend by an fma; scales that vary along K
/// promote each segment, even where K has only one.
inline combine_rule combine_of(const activation_operand& a, const weight_operand& b,
                               const output_operand& d) noexcept {
  if (a.scales.block_cols != whole || b.scales.block_cols != whole) return combine_rule::promote;
  return d.addend != nullptr || d.bias != nullptr ? combine_rule::scale_add : combine_rule::scale;
}

inline bool cuts_are_even(const std::ptrdiff_t* cuts, std::ptrdiff_t segments) noexcept {
  for (std::ptrdiff_t s = 1; s < segments; ++s)
    if (cuts[s] % 2 != 0) return false;
  return true;
}

/// Whether every nonzero magnitude is in [2^-100, 2^100]: then no product with an FP8 number overflows or is
/// subnormal, and neither is any sum on the way (numerics: hardware dot products).
inline bool in_dot_product_range(const bf16* x, std::ptrdiff_t n) noexcept {
  constexpr std::uint32_t low = (127u - 100u) << 7, high = (127u + 100u) << 7;
  std::uint32_t outside = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint32_t magnitude = x[i].code & 0x7fffu;
    const std::uint32_t nonzero = magnitude != 0;
    outside |= nonzero & static_cast<std::uint32_t>(magnitude - low > high - low);
  }
  return outside == 0;
}

inline void fill_zero(float* t, std::ptrdiff_t n) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) t[i] = 0.0f;
}

// Not 0 + bias where there is no C: that would turn a bias of -0 into +0.
inline void start_with_bias(const float* __restrict bias, std::ptrdiff_t n, bool has_addend,
                            float* __restrict t) noexcept {
  for (std::ptrdiff_t i = 0; i < n; ++i) t[i] = has_addend ? t[i] + bias[i] : bias[i];
}

/// The part of D that a task works on: a block of rows, loaded once, by ranges of panels.
class gemm_task {
 public:
  gemm_task(const gemm_problem& problem, const gemm_plan& plan, const std::ptrdiff_t* cuts,
            std::byte* memory) noexcept
      : problem_(problem), plan_(plan), cuts_(cuts) {
    const gemm_memory& sizes = plan.memory;
    rows_ = take(memory, sizes.rows);
    a_scales_ = reinterpret_cast<float*>(take(memory, sizes.a_scales));
    b_scales_ = reinterpret_cast<float*>(take(memory, sizes.b_scales));
    tile_ = reinterpret_cast<float*>(take(memory, sizes.tile));
    panels_ = take(memory, sizes.panels);
    kernel_ = reinterpret_cast<float*>(take(memory, sizes.kernel));
  }

  /// Bits of the largest finite magnitude so far, where the problem asks for it.
  std::uint32_t amax() const noexcept { return amax_; }

  /// Item i of row_blocks * ranges.
  void run(std::ptrdiff_t item) noexcept {
    const std::ptrdiff_t block = item / plan_.ranges, range = item % plan_.ranges;
    if (block != block_) load_block(block);
    const std::ptrdiff_t panels = packed_layout::panels(problem_.d.n);
    const std::ptrdiff_t end = part_begin(panels, plan_.ranges, range + 1);
    for (std::ptrdiff_t p = part_begin(panels, plan_.ranges, range); p < end; p += plan_.blocking.panels)
      run_panels(p, smaller(plan_.blocking.panels, end - p));
  }

 private:
  static std::byte* take(std::byte*& memory, std::ptrdiff_t bytes) noexcept {
    std::byte* taken = memory;
    memory += bytes;
    return taken;
  }

  void load_block(std::ptrdiff_t block) noexcept {
    const std::ptrdiff_t unit = plan_.tile_rows;
    const std::ptrdiff_t tiles = ceil_div(problem_.d.m, unit);
    block_ = block;
    first_row_ = part_begin(tiles, plan_.row_blocks, block) * unit;
    row_count_ = smaller(part_begin(tiles, plan_.row_blocks, block + 1) * unit, problem_.d.m) - first_row_;
    const bool in_range = problem_.a.products == product_rule::exact_in_range && block_in_range();
    exact_ = problem_.a.products == product_rule::exact || in_range;
    pairs_ = exact_ && problem_.even_cuts && problem_.a.load_pairs != nullptr &&
             problem_.b.multiply_pairs != nullptr;
    load_rows();
    for (std::ptrdiff_t s = 0; s < plan_.segments; ++s)
      gather(problem_.a.scales, first_row_, row_count_, cuts_[s], a_scales_ + s * a_scales_stride());
  }

  bool block_in_range() const noexcept {
    for (std::ptrdiff_t m = 0; m < row_count_; ++m)
      if (!in_dot_product_range(row_of<bf16>(problem_.a, first_row_ + m), problem_.a.k)) return false;
    return true;
  }

  void load_rows() noexcept {
    for (std::ptrdiff_t m = 0; m < row_count_; ++m) {
      if (pairs_)
        problem_.a.load_pairs(problem_.a, first_row_ + m, pair_rows() + m * plan_.a_stride);
      else
        problem_.a.load(problem_.a, first_row_ + m, float_rows() + m * plan_.a_stride);
    }
  }

  void run_panels(std::ptrdiff_t first_panel, std::ptrdiff_t panels) noexcept {
    const std::ptrdiff_t col = first_panel * packed_layout::columns;
    const std::ptrdiff_t cols = smaller(panels * packed_layout::columns, problem_.d.n - col);
    const std::ptrdiff_t width = panels * packed_layout::columns;
    if (problem_.combine != combine_rule::scale || plan_.segments == 0) start_tile(col, cols, width);
    if (plan_.segments != 0) {
      gather_b_scales(col, cols, width);
      multiply(first_panel, panels);
    }
    if (problem_.d.amax != nullptr) merge_amax(cols);
    for (std::ptrdiff_t m = 0; m < row_count_; ++m)
      problem_.d.store(problem_.d, first_row_ + m, col, cols, tile_ + m * tile_stride());
  }

  // The tile begins as C + bias, as the one of them that is there, or as +0.
  void start_tile(std::ptrdiff_t col, std::ptrdiff_t cols, std::ptrdiff_t width) noexcept {
    const output_operand& d = problem_.d;
    for (std::ptrdiff_t m = 0; m < row_count_; ++m) {
      float* t = tile_ + m * tile_stride();
      if (d.addend != nullptr)
        d.load(d, first_row_ + m, col, cols, t);
      else
        fill_zero(t, cols);
      if (d.bias != nullptr) start_with_bias(d.bias + col, cols, d.addend != nullptr, t);
      fill_zero(t + cols, width - cols);
    }
  }

  void merge_amax(std::ptrdiff_t cols) noexcept {
    for (std::ptrdiff_t m = 0; m < row_count_; ++m)
      problem_.d.rows->amax_f32(tile_ + m * tile_stride(), cols, cols, amax_rule::finite_only, &amax_);
  }

  void gather_b_scales(std::ptrdiff_t col, std::ptrdiff_t cols, std::ptrdiff_t width) noexcept {
    for (std::ptrdiff_t s = 0; s < plan_.segments; ++s) {
      float* scales = b_scales_ + s * tile_stride();
      gather(problem_.b.scales, col, cols, cuts_[s], scales);
      fill_zero(scales + cols, width - cols);
    }
  }

  void multiply(std::ptrdiff_t first_panel, std::ptrdiff_t panels) noexcept {
    const std::ptrdiff_t panel_bytes = packed_layout::panel_bytes(problem_.b.k);
    const std::byte* b =
        problem_.b.panels == nullptr ? panels_ : problem_.b.panels + first_panel * panel_bytes;
    if (problem_.b.panels == nullptr)
      for (std::ptrdiff_t p = 0; p < panels; ++p)
        problem_.b.pack(problem_.b, first_panel + p, panels_ + p * panel_bytes);
    if (pairs_)
      problem_.b.multiply_pairs(task_of<bf16_pair>(pair_rows(), b, panels));
    else
      problem_.b.multiply(task_of<float>(float_rows(), b, panels));
  }

  template <class Row>
  panel_task<Row> task_of(const Row* rows, const std::byte* b, std::ptrdiff_t panels) const noexcept {
    return {.a = rows,
            .a_stride = plan_.a_stride,
            .rows = row_count_,
            .b = b,
            .b_stride = packed_layout::panel_bytes(problem_.b.k),
            .panels = panels,
            .cuts = cuts_,
            .segments = plan_.segments,
            .a_scales = a_scales_,
            .a_scales_stride = a_scales_stride(),
            .b_scales = b_scales_,
            .b_scales_stride = tile_stride(),
            .combine = problem_.combine,
            .exact_products = exact_,
            .tile = tile_,
            .tile_stride = tile_stride(),
            .scratch = kernel_};
  }

  float* float_rows() const noexcept { return reinterpret_cast<float*>(rows_); }
  bf16_pair* pair_rows() const noexcept { return reinterpret_cast<bf16_pair*>(rows_); }
  std::ptrdiff_t a_scales_stride() const noexcept { return round_up(plan_.blocking.rows, 16); }
  std::ptrdiff_t tile_stride() const noexcept { return plan_.blocking.panels * packed_layout::columns; }

  const gemm_problem& problem_;
  const gemm_plan& plan_;
  const std::ptrdiff_t* cuts_;
  std::byte* rows_;
  float *a_scales_, *b_scales_, *tile_;
  std::byte* panels_;
  float* kernel_;
  std::ptrdiff_t block_ = -1;  // none is loaded
  std::ptrdiff_t first_row_ = 0, row_count_ = 0;
  bool exact_ = false, pairs_ = false;
  std::uint32_t amax_ = 0;
};

// Magnitudes are ordered like their bits.
inline void raise(std::atomic<std::uint32_t>& largest, std::uint32_t bits) noexcept {
  std::uint32_t seen = largest.load(std::memory_order_relaxed);
  while (seen < bits && !largest.compare_exchange_weak(seen, bits, std::memory_order_relaxed)) {}
}
// Whether the caller's number gives way to a magnitude: a negative one (what a maximum may start from) and a NaN always
// do. They have larger bits than infinity.
inline bool gives_way(float number, std::uint32_t magnitude) noexcept {
  const std::uint32_t bits = detail::bits_of(number);
  return bits > detail::float_infinity || bits < magnitude;
}
inline void report_amax(const output_operand& d, std::uint32_t bits) noexcept {
  if (d.amax != nullptr && gives_way(*d.amax, bits)) *d.amax = detail::float_from_bits(bits);
}

/// D = the product. `memory` has plan.memory.bytes().
inline void run_gemm(gemm_problem problem, const gemm_plan& plan, std::byte* memory, const execution& where) {
  const auto offset = reinterpret_cast<std::uintptr_t>(memory) % gemm_memory::alignment;
  memory += offset == 0 ? 0 : gemm_memory::alignment - offset;
  auto* cuts = reinterpret_cast<std::ptrdiff_t*>(memory);
  cut_segments(problem.a.k, problem.a.scales.block_cols, problem.b.scales.block_cols, cuts);
  problem.even_cuts = cuts_are_even(cuts, plan.segments);
  std::byte* slots = memory + plan.memory.cuts;

  const std::ptrdiff_t items = plan.row_blocks * plan.ranges;
  std::atomic<std::ptrdiff_t> next{0};
  std::atomic<std::uint32_t> amax{0};
  for_each_task(where, static_cast<std::size_t>(plan.memory.tasks), [&](std::size_t index) noexcept {
    gemm_task task(problem, plan, cuts,
                   slots + static_cast<std::ptrdiff_t>(index) * plan.memory.task_bytes());
    for (std::ptrdiff_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < items;) task.run(item);
    raise(amax, task.amax());
  });
  report_amax(problem.d, amax.load(std::memory_order_relaxed));
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
