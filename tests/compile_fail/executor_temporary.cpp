// SPDX-License-Identifier: Apache-2.0
// A temporary executor would be gone before its first task.
// EXPECT-ERROR: deleted function
#include <ofp8/exec/execution.hpp>
#include <ofp8/exec/thread_pool.hpp>

using namespace ofp8;

void run(const execution& where) {
  where.executor.parallel_for(1, [](std::size_t) {});
}

int main() {
  thread_pool pool(2);
  run({.executor = pool});
#ifdef OFP8_BREAK
  const executor_ref reference = thread_pool(2);
  run({.executor = reference});
#endif
}
