// SPDX-License-Identifier: Apache-2.0
// The executor contract of exec/executor.hpp as checks, for every executor alike. Catch2's assertions are not
// for several threads: tasks write down what they saw, the main thread judges it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <ofp8/exec/executor.hpp>

#include "tests/catch.hpp"

namespace contract {

// Plain counters on purpose: were an index run twice at once, or a write not visible, TSan would say so.
template <class X>
bool each_index_once(X& x, std::size_t n) {
  std::vector<int> calls(n, 0);
  std::atomic<bool> outside{false};
  x.parallel_for(n, [&](std::size_t i) {
    if (i < n) {
      ++calls[i];
    } else {
      outside = true;
    }
  });
  return !outside && calls == std::vector<int>(n, 1);
}

template <class X>
void check_each_index_once(X& x) {
  for (const std::size_t n : {0u, 1u, 2u, 3u, 7u, 1000u}) {
    CAPTURE(n, x.concurrency());
    CHECK(each_index_once(x, n));
  }
}

// Each round reads what the other threads wrote in the round before.
template <class X>
void check_visibility(X& x) {
  constexpr std::size_t n = 64, rounds = 100;
  std::vector<std::size_t> now(n, 0), next(n, 0);
  for (std::size_t round = 0; round < rounds; ++round) {
    x.parallel_for(n, [&](std::size_t i) { next[i] = now[(i + 1) % n] + 1; });
    now.swap(next);
  }
  CHECK(now == std::vector<std::size_t>(n, rounds));
}

template <class X>
bool nested_each_once(X& x) {
  constexpr std::size_t n = 5;
  std::vector<int> calls(n * n * n, 0);
  x.parallel_for(n, [&](std::size_t i) {
    x.parallel_for(n, [&, i](std::size_t j) {
      x.parallel_for(n, [&, i, j](std::size_t k) { ++calls[(i * n + j) * n + k]; });
    });
  });
  return calls == std::vector<int>(calls.size(), 1);
}

template <class X>
void check_nesting(X& x) {
  for (int round = 0; round < 20; ++round) CHECK(nested_each_once(x));
}

template <class X>
void check_concurrent_callers(X& x) {
  constexpr int callers = 4;
  std::vector<int> right(callers, 0);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&x, &ok = right[static_cast<std::size_t>(caller)], caller] {
      for (int round = 0; round < 30; ++round) {
        ok += each_index_once(x, static_cast<std::size_t>(17 * caller + round)) && nested_each_once(x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(callers, 30));
}

// Counts the tasks that are running.
class inside {
 public:
  explicit inside(std::atomic<int>& count) : count_(count) { ++count_; }
  ~inside() { --count_; }

 private:
  std::atomic<int>& count_;
};

template <class X>
void check_exceptions(X& x) {
  for (const std::size_t thrower : {0u, 1u, 57u, 99u}) {
    std::atomic<int> running{0};
    std::vector<int> calls(100, 0);
    int still_running = -1;
    std::string message;
    try {
      x.parallel_for(calls.size(), [&](std::size_t i) {
        const inside mark(running);
        ++calls[i];
        if (i == thrower) throw std::runtime_error("task " + std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      still_running = running;
      message = error.what();
    }
    CHECK(still_running == 0);
    CHECK(message == "task " + std::to_string(thrower));
    CHECK(calls[thrower] == 1);
    CHECK(*std::max_element(calls.begin(), calls.end()) == 1);
  }
  // All of them throw, from within a nested call: one arrives.
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS_AS(
        x.parallel_for(8,
                       [&](std::size_t) {
                         x.parallel_for(8, [](std::size_t i) { throw std::out_of_range(std::to_string(i)); });
                       }),
        std::out_of_range);
  }
  CHECK(each_index_once(x, 1000));  // and the executor is as good as before
}

template <class X>
void check_all(X& x) {
  static_assert(ofp8::executor<X>);
  check_each_index_once(x);
  check_visibility(x);
  check_nesting(x);
  check_concurrent_callers(x);
  check_exceptions(x);

  const ofp8::executor_ref ref = x;  // and the same through the erased reference
  CHECK(ref.concurrency() == static_cast<std::size_t>(x.concurrency()));
  check_each_index_once(ref);
  check_nesting(ref);
  check_exceptions(ref);
}

}  // namespace contract
