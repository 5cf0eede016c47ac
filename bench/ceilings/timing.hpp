// SPDX-License-Identifier: Apache-2.0
// How everything in this folder is timed: on a pinned thread, by the CPU time of that thread (so that a busy
// machine does not count), the median of several rounds. Work of several threads is timed by the wall.
//
//   const pinned here(0);
//   const double seconds = median_seconds([&] { encode(in, codes); });
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <functional>

namespace ofp8::bench {

enum class clock_kind { thread_cpu, wall };

/// The clock for work of that many threads.
inline clock_kind clock_for(int threads) { return threads == 1 ? clock_kind::thread_cpu : clock_kind::wall; }

/// Seconds since some point in the past.
double now(clock_kind clock) noexcept;

/// Keeps the calling thread on the CPU number `index` (counted modulo) of those it may run on, for its
/// lifetime. Threads started meanwhile inherit the pin: start pools before.
class pinned {
 public:
  explicit pinned(int index) noexcept;
  ~pinned();
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

 private:
  cpu_set_t before_;
};

/// The compiler must assume that the memory was read and written here.
inline void forget_memory() noexcept { asm volatile("" : : : "memory"); }

/// Median seconds of one call.
template <class F>
double median_seconds(F&& call, clock_kind clock = clock_kind::thread_cpu) {
  constexpr double round_seconds = 0.008;
  const auto seconds_of = [&](long calls) {
    const double start = now(clock);
    for (long i = 0; i < calls; ++i) {
      call();
      forget_memory();
    }
    return (now(clock) - start) / static_cast<double>(calls);
  };
  seconds_of(1);  // caches, page tables, branch predictors
  const double once = std::max(seconds_of(1), 1e-9);
  const long calls = std::max(1L, static_cast<long>(round_seconds / once));
  std::array<double, 7> rounds;
  for (double& r : rounds) r = seconds_of(calls);
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

/// The sum of what `job(thread, clock)` returns on `threads` pinned threads that start together; one thread
/// is the caller's own.
double total_rate(int threads, const std::function<double(int thread, clock_kind clock)>& job);

}  // namespace ofp8::bench
