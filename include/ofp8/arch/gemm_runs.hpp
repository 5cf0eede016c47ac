// SPDX-License-Identifier: Apache-2.0
// ofp8: the runs of K that a multiply goes through one after the other, so that what it reads again stays in a
// cache. A run may begin and end inside a segment; the sums wait in scratch between runs (never in D).
//
//   for (k_run run = first_run(task, depth); run.begin < run.end; run = next_run(task, run, depth)) ...
#pragma once

#include <cstddef>

#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/config.hpp>

namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// [begin, end) of K. `segment` is the one that holds `begin`.
struct k_run {
  std::ptrdiff_t begin, end, segment;
};

template <class Row>
OFP8_INLINE k_run run_from(const panel_task<Row>& task, std::ptrdiff_t begin, std::ptrdiff_t segment,
                           std::ptrdiff_t depth) noexcept {
  const std::ptrdiff_t left = task.cuts[task.segments] - begin;
  return {begin, begin + (depth < left ? depth : left), segment};
}
template <class Row>
OFP8_INLINE k_run first_run(const panel_task<Row>& task, std::ptrdiff_t depth) noexcept {
  return run_from(task, 0, 0, depth);
}
template <class Row>
OFP8_INLINE k_run next_run(const panel_task<Row>& task, const k_run& run, std::ptrdiff_t depth) noexcept {
  std::ptrdiff_t segment = run.segment;
  while (segment < task.segments && task.cuts[segment + 1] <= run.end) ++segment;
  return run_from(task, run.end, segment, depth);
}

/// Whether no packed line is shared by two segments.
template <class Row>
OFP8_INLINE bool cuts_inside_are_even(const panel_task<Row>& task) noexcept {
  std::ptrdiff_t odd = 0;
  for (std::ptrdiff_t s = 1; s < task.segments; ++s) odd |= task.cuts[s] % 2;
  return odd == 0;
}

/// `count` things in as few parts as have at most `most` of them, nearly equal: where part i begins.
struct balanced_parts {
  std::ptrdiff_t count, parts;

  OFP8_INLINE_MEMBER balanced_parts(std::ptrdiff_t n, std::ptrdiff_t most) noexcept
      : count(n), parts((n + most - 1) / most) {}
  OFP8_INLINE_MEMBER std::ptrdiff_t begin(std::ptrdiff_t i) const noexcept {
    const std::ptrdiff_t size = count / parts, longer = count % parts;
    return i * size + (i < longer ? i : longer);
  }
  OFP8_INLINE_MEMBER std::ptrdiff_t size(std::ptrdiff_t i) const noexcept { return begin(i + 1) - begin(i); }
};

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
