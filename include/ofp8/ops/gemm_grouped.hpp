// SPDX-License-Identifier: Apache-2.0
// ofp8: many products in one call: the experts of a mixture (a list of problems that share N and K, each with its own M,
// 0 included) and batches (one problem, repeated at constant strides). Work is shared among threads across problems; each
// problem's D has the bits that gemm_nt gives it alone.
//
//   std::vector<gemm_group<scaled_view<const e4m3, per_token>, packed_view<e4m3, per_channel>, matrix_view<bf16>>> experts;
//   gemm_nt_grouped(experts, {.executor = pool});
//   gemm_nt_batched(heads, batched(q.view(), q_stride), batched(k.view(), k_stride), batched(s.view(), s_stride));
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/gemm.hpp>
#include <ofp8/ops/gemm_operands.hpp>
#include <ofp8/ops/gemm_plan.hpp>
#include <ofp8/ops/gemm_tasks.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix_view.hpp>

namespace ofp8 {

/// One problem of a group: views of its operands, as gemm_nt takes them, and its options.
template <gemm_activations A, gemm_weights B, gemm_output D>
struct gemm_group {
  A a;
  B b;
  D d;
  gemm_options<addend_of<D>> options{};
};

/// Operands of one shape at constant distances: element i lies i * stride elements (of codes), and i * scale_stride
/// scales, behind the first. A stride of 0 repeats the first.
template <class View>
struct batched_operand {
  View first;
  std::ptrdiff_t stride;
  std::ptrdiff_t scale_stride;

  OFP8_INLINE_MEMBER constexpr View operator[](std::ptrdiff_t i) const {
    if constexpr (requires { first.scales(); }) {
      using scales = std::remove_cvref_t<decltype(first.scales())>;
      const auto s = first.scales();
      return View(
          {first.codes().data() + i * stride, first.rows(), first.cols(), first.codes().leading_dimension()},
          scales(s.data() + i * scale_stride, s.rows(), s.cols(), s.row_stride(), s.col_stride()));
    } else {
      return View(first.data() + i * stride, first.rows(), first.cols(), first.leading_dimension());
    }
  }
};

/// A matrix_view repeated every `stride` elements.
template <class T>
OFP8_INLINE constexpr batched_operand<matrix_view<T>> batched(matrix_view<T> first,
                                                              std::ptrdiff_t stride) noexcept {
  return {first, stride, 0};
}
/// A scaled_view repeated every `stride` codes and `scale_stride` scales.
template <class E, class G>
OFP8_INLINE constexpr batched_operand<scaled_view<E, G>> batched(scaled_view<E, G> first,
                                                                 std::ptrdiff_t stride,
                                                                 std::ptrdiff_t scale_stride) noexcept {
  return {first, stride, scale_stride};
}

}  // namespace ofp8

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

[[noreturn]] OFP8_COLD inline void refuse_group(std::ptrdiff_t group, detail::extent b,
                                                detail::extent first) {
  detail::message m;
  m << "gemm_nt_grouped: B of group " << std::int64_t{group} << " is " << b << ", of group 0 it is " << first
    << ": groups share N and K";
  detail::fail<shape_error>(m);
}
[[noreturn]] OFP8_COLD inline void refuse_batch(std::ptrdiff_t count) {
  detail::message m;
  m << "gemm_nt_batched: the batch has " << std::int64_t{count} << " problems: a size is negative";
  detail::fail<shape_error>(m);
}

template <class D>
inline auto output_view(D& d) {
  if constexpr (scaled_operand<D>) {
    return as_scaled_view(d);
  } else {
    return as_view(d);
  }
}

// A group without types. Its cuts are those of the whole call.
template <class A, class B, class D>
inline gemm_problem problem_of(const gemm_group<A, B, D>& group, isa id) {
  const auto av = activation_view(group.a);
  const auto bv = weight_view(group.b);
  D d = group.d;
  const auto dv = output_view(d);
  const auto& options = group.options;
  const auto& addend = options.addend;
  const bool has_addend = addend.data() != nullptr || addend.rows() != 0 || addend.cols() != 0;
  check_gemm({av.rows(), av.cols()}, {bv.rows(), bv.cols()}, {dv.rows(), dv.cols()}, options.bias.size(),
             has_addend, {addend.rows(), addend.cols()});
  output_operand out = output_of(dv, id);
  if (has_addend) out.addend = addend.data();
  out.addend_leading_dimension = addend.leading_dimension();
  if (!options.bias.empty()) out.bias = options.bias.data();
  out.amax = options.amax;
  const activation_operand a = activations_of<weight_code<B>>(av, id);
  const weight_operand b = weights_of(bv, id);
  return {a, b, out, combine_of(a, b, out), false};
}

/// What all groups share.
struct group_setting {
  std::ptrdiff_t segments;
  std::ptrdiff_t concurrency;  // what a single group's plan aims at
};

inline gemm_plan plan_of(const gemm_problem& p, const group_setting& s) noexcept {
  const gemm_shape shape{p.d.m, p.d.n, p.a.k};
  return plan_gemm(shape, s.segments, p.b.blocking(shape), p.b.panels != nullptr, s.concurrency);
}

/// Memory: where each group's items begin, the cuts, and a slot for each task that any group fits in.
struct group_memory {
  std::ptrdiff_t firsts, cuts, slot, tasks;
  std::ptrdiff_t bytes() const noexcept { return firsts + cuts + slot * tasks + gemm_memory::alignment; }
};

// Groups of one call: problem(i) builds the i-th again whenever a task comes to it, so nothing is stored per group but
// where its items begin.
template <class Problem>
class group_run {
 public:
  group_run(std::ptrdiff_t count, Problem problem, const execution& where)
      : problem_(problem), count_(count) {
    const std::ptrdiff_t concurrency = concurrency_of(where);
    // Where there are groups enough for every thread, a group need not be cut for the sake of sharing.
    setting_.concurrency = count >= 4 * concurrency ? 1 : concurrency;
    memory_ = {.firsts = round_up((count + 1) * static_cast<std::ptrdiff_t>(sizeof(std::ptrdiff_t)),
                                  gemm_memory::alignment),
               .cuts = 0,
               .slot = 0,
               .tasks = concurrency};
    for (std::ptrdiff_t i = 0; i < count; ++i) measure(problem_(i));
  }

  const group_memory& memory() const noexcept { return memory_; }

  void run(std::byte* memory, const execution& where) {
    const auto offset = reinterpret_cast<std::uintptr_t>(memory) % gemm_memory::alignment;
    memory += offset == 0 ? 0 : gemm_memory::alignment - offset;
    firsts_ = reinterpret_cast<std::ptrdiff_t*>(memory);
    cuts_ = reinterpret_cast<std::ptrdiff_t*>(memory + memory_.firsts);
    slots_ = memory + memory_.firsts + memory_.cuts;
    list_items();
    std::atomic<std::ptrdiff_t> next{0};
    const std::ptrdiff_t tasks = smaller(memory_.tasks, firsts_[count_]);
    for_each_task(where, static_cast<std::size_t>(tasks), [&](std::size_t index) {
      work(next, slots_ + static_cast<std::ptrdiff_t>(index) * memory_.slot);
    });
  }

 private:
  void measure(const gemm_problem& p) noexcept {
    setting_.segments = segments_of(p.a, p.b);
    if (p.d.m == 0 || p.d.n == 0) return;
    const gemm_plan plan = plan_of(p, setting_);
    memory_.cuts = larger(memory_.cuts, plan.memory.cuts);
    memory_.slot = larger(memory_.slot, plan.memory.task_bytes());
  }

  // Groups share K and the block sizes, so one list of cuts serves all.
  void list_items() {
    std::ptrdiff_t first = 0;
    for (std::ptrdiff_t i = 0; i < count_; ++i) {
      firsts_[i] = first;
      const gemm_problem p = problem_(i);
      if (p.d.m == 0 || p.d.n == 0) continue;
      cut_segments(p.a.k, p.a.scales.block_cols, p.b.scales.block_cols, cuts_);
      const gemm_plan plan = plan_of(p, setting_);
      first += plan.row_blocks * plan.ranges;
    }
    firsts_[count_] = first;
  }

  // Items come in increasing order, so a task walks through the groups once.
  void work(std::atomic<std::ptrdiff_t>& next, std::byte* slot) {
    std::ptrdiff_t item = next.fetch_add(1, std::memory_order_relaxed);
    for (std::ptrdiff_t group = 0; item < firsts_[count_];) {
      while (item >= firsts_[group + 1]) ++group;
      gemm_problem p = problem_(group);
      p.even_cuts = cuts_are_even(cuts_, setting_.segments);
      const gemm_plan plan = plan_of(p, setting_);
      gemm_task task(p, plan, cuts_, slot);
      for (; item < firsts_[group + 1]; item = next.fetch_add(1, std::memory_order_relaxed))
        task.run(item - firsts_[group]);
      report_group_amax(p.d, task.amax());
    }
  }

  // Several tasks may have worked on one group.
  static void report_group_amax(const output_operand& d, std::uint32_t bits) noexcept {
    if (d.amax == nullptr) return;
    std::atomic_ref<float> amax(*d.amax);
    float seen = amax.load(std::memory_order_relaxed);
    while (gives_way(seen, bits) &&
           !amax.compare_exchange_weak(seen, detail::float_from_bits(bits), std::memory_order_relaxed)) {}
  }

  Problem problem_;
  std::ptrdiff_t count_;
  group_setting setting_{};
  group_memory memory_{};
  std::ptrdiff_t* firsts_ = nullptr;
  std::ptrdiff_t* cuts_ = nullptr;
  std::byte* slots_ = nullptr;
};

template <class Problem>
inline void run_groups(std::ptrdiff_t count, Problem problem, const execution& where) {
  group_run<Problem> groups(count, problem, where);
  if (groups.memory().slot == 0) return;
  const gemm_scratch scratch(groups.memory().bytes(), where.scratch);
  groups.run(scratch.data(), where);
}

template <class Groups>
inline void check_groups(const Groups& groups) {
  detail::extent first{0, 0};
  std::ptrdiff_t index = 0;
  for (const auto& group : groups) {
    const auto b = weight_view(group.b);
    const detail::extent here{b.rows(), b.cols()};
    if (index == 0) first = here;
    if (here.rows != first.rows || here.cols != first.cols) refuse_group(index, here, first);
    ++index;
  }
}

}  // namespace impl

/// gemm_nt of every group. `groups` is a contiguous range of gemm_group: M may differ and be 0, N and K are shared, D's do
/// not overlap. Throws shape_error for groups that do not fit, before anything is written; argument_error as gemm_nt does.
/// Scratch: one allocation for the call, or none with at least gemm_grouped_scratch_bytes of the caller's.
template <std::ranges::contiguous_range Groups>
requires requires(const Groups& groups) { impl::problem_of(*std::ranges::data(groups), isa::scalar); }
void gemm_nt_grouped(const Groups& groups, const execution& where = {}) {
  const isa id = impl::resolve("gemm_nt_grouped", where.isa);
  impl::check_groups(groups);
  const auto* first = std::ranges::data(groups);
  impl::run_groups(
      static_cast<std::ptrdiff_t>(std::ranges::size(groups)),
      [=](std::ptrdiff_t i) { return impl::problem_of(first[i], id); }, where);
}

/// Bytes of scratch that gemm_nt_grouped(groups, where) uses.
template <std::ranges::contiguous_range Groups>
[[nodiscard]] std::size_t gemm_grouped_scratch_bytes(const Groups& groups, const execution& where = {}) {
  const isa id = impl::resolve("gemm_grouped_scratch_bytes", where.isa);
  impl::check_groups(groups);
  const auto* first = std::ranges::data(groups);
  const auto problem = [=](std::ptrdiff_t i) { return impl::problem_of(first[i], id); };
  const impl::group_run<std::remove_const_t<decltype(problem)>> run(
      static_cast<std::ptrdiff_t>(std::ranges::size(groups)), problem, where);
  return run.memory().slot == 0 ? 0 : static_cast<std::size_t>(run.memory().bytes());
}

/// d[i] = a[i] b[i]^T for i < count: operands at constant strides (attention heads, stacked experts of one M). A stride of
/// 0 shares an operand. D's do not overlap. Throws as gemm_nt_grouped.
template <gemm_activations A, gemm_weights B, gemm_output D>
void gemm_nt_batched(std::ptrdiff_t count, const batched_operand<A>& a, const batched_operand<B>& b,
                     const batched_operand<D>& d, const execution& where = {}) {
  if (count < 0) impl::refuse_batch(count);
  const isa id = impl::resolve("gemm_nt_batched", where.isa);
  impl::run_groups(
      count,
      [=](std::ptrdiff_t i) {
        return impl::problem_of(gemm_group<A, B, D>{a[i], b[i], d[i]}, id);
      },
      where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
