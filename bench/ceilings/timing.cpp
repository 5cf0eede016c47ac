// SPDX-License-Identifier: Apache-2.0
#include "ceilings/timing.hpp"

#include <time.h>

#include <atomic>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

namespace ofp8::bench {

double now(clock_kind clock) noexcept {
  timespec t{};
  clock_gettime(clock == clock_kind::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

pinned::pinned(int index) noexcept {
  CPU_ZERO(&before_);
  sched_getaffinity(0, sizeof before_, &before_);
  const int allowed = CPU_COUNT(&before_);
  int skip = allowed > 0 ? index % allowed : 0;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before_) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

pinned::~pinned() { sched_setaffinity(0, sizeof before_, &before_); }

double total_rate(int threads, const std::function<double(int thread, clock_kind clock)>& job) {
  if (threads == 1) {
    const pinned here(0);
    return job(0, clock_for(1));
  }
  std::vector<double> rates(static_cast<std::size_t>(threads));
  std::atomic<int> waiting{threads};
  std::vector<std::jthread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const pinned here(t);
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      rates[static_cast<std::size_t>(t)] = job(t, clock_for(threads));
    });
  }
  workers.clear();  // joins
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace ofp8::bench
