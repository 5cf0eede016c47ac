// SPDX-License-Identifier: Apache-2.0
// ofp8: how element-wise operations cut their work into tasks. The cut depends on the executor's concurrency;
// no result depends on the cut.
#pragma once

#include <cstddef>

#include <ofp8/core/config.hpp>
#include <ofp8/exec/execution.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// Elements that make a task worth handing over: tens of microseconds.
inline constexpr std::ptrdiff_t elements_of_task = 65536;

/// Into how many tasks (1 .. most) to cut `items` of `item_elements` each.
inline std::ptrdiff_t task_count(const execution& where, std::ptrdiff_t items, std::ptrdiff_t item_elements,
                                 std::ptrdiff_t most) {
  if (items <= 1 || where.executor.concurrency() == 1) return 1;
  const std::ptrdiff_t items_of_task =
      item_elements >= elements_of_task ? 1 : elements_of_task / (item_elements > 0 ? item_elements : 1);
  const std::ptrdiff_t tasks = items / items_of_task + (items % items_of_task != 0 ? 1 : 0);
  return tasks < most ? tasks : most;
}

/// Calls f(task, first, last) for `tasks` consecutive, nearly equal parts of [0, items), each in the known
/// floating-point environment.
template <class F>
inline void for_each_part(const execution& where, std::ptrdiff_t items, std::ptrdiff_t tasks, F f) {
  const std::ptrdiff_t size = items / tasks;
  const std::ptrdiff_t longer = items % tasks;  // the first parts have one item more
  for_each_task(where, static_cast<std::size_t>(tasks), [&](std::size_t index) {
    const auto task = static_cast<std::ptrdiff_t>(index);
    const std::ptrdiff_t first = task * size + (task < longer ? task : longer);
    f(task, first, first + size + (task < longer ? 1 : 0));
  });
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
