// SPDX-License-Identifier: Apache-2.0
#include <ofp8/exec/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/exec/contract.hpp"

// The sanitizers have an operator new of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef COUNTS_ALLOCATIONS
#define COUNTS_ALLOCATIONS 1
#endif

using namespace ofp8;
using namespace std::chrono_literals;

#if COUNTS_ALLOCATIONS
namespace {

std::atomic<long> allocations{0};

}  // namespace

// Counted for the whole program, to see that a call allocates nothing. Not inlined: g++ would see a free() of
// what operator new returned, and warn.
OFP8_NOINLINE void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
OFP8_NOINLINE void operator delete(void* memory) noexcept { std::free(memory); }
OFP8_NOINLINE void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace {

static_assert(!std::is_copy_constructible_v<thread_pool> && !std::is_move_constructible_v<thread_pool>);
static_assert(!std::is_copy_assignable_v<thread_pool> && !std::is_move_assignable_v<thread_pool>);
static_assert(!std::is_default_constructible_v<thread_pool>);
static_assert(!std::is_convertible_v<int, thread_pool>);

// The threads on which `count` tasks of one call run when all of them are running at the same moment; fewer
// than `count` after a time that only a pool that never gets there takes.
template <class X>
std::set<std::thread::id> threads_at_once(X& x, std::size_t count) {
  std::vector<std::thread::id> where(count);
  std::atomic<std::size_t> running{0};
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  x.parallel_for(count, [&](std::size_t i) {
    where[i] = std::this_thread::get_id();
    ++running;
    while (running < count && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  return {where.begin(), where.end()};
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string construction_error(std::ptrdiff_t concurrency) {
  try {
    thread_pool pool(concurrency);
  } catch (const argument_error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a thread_pool of any size fulfils the executor contract") {
  for (int threads = 1; threads <= 8; ++threads) {
    thread_pool pool(threads);
    CAPTURE(threads);
    CHECK(pool.concurrency() == static_cast<std::size_t>(threads));
    contract::check_all(pool);
  }
}

TEST_CASE("thread_pool(n) runs n tasks at once, the caller's thread included") {
  for (std::size_t n = 1; n <= 8; ++n) {
    thread_pool pool(static_cast<std::ptrdiff_t>(n));
    const std::set<std::thread::id> threads = threads_at_once(pool, n);
    REQUIRE(threads.size() == n);
    CHECK(threads.count(std::this_thread::get_id()) == 1);
  }
}

TEST_CASE("no two threads of a thread_pool claim the same task, however often they try") {
  for (const int threads : {2, 4}) {
    thread_pool pool(threads);
    int right = 0;
    for (int round = 0; round < 3000; ++round) right += contract::each_index_once(pool, 200);
    CHECK(right == 3000);
  }
}

TEST_CASE("the workers of a sleeping thread_pool wake up for every call") {
  thread_pool pool(3);
  for (int round = 0; round < 10; ++round) {
    std::this_thread::sleep_for(5ms);  // far longer than a worker looks out before it sleeps
    REQUIRE(threads_at_once(pool, 3).size() == 3);
    REQUIRE(threads_at_once(pool, 2).size() == 2);
  }
}

TEST_CASE("inner tasks of a nested call run on the free workers of the thread_pool") {
  thread_pool pool(3);
  std::size_t threads = 0;
  pool.parallel_for(2, [&](std::size_t i) {
    if (i == 0) threads = threads_at_once(pool, 2).size();  // the other task ends at once
  });
  CHECK(threads == 2);
}

TEST_CASE("an idle thread_pool uses no processor time") {
  constexpr int workers = 3;
  thread_pool pool(workers + 1);
  pool.parallel_for(1000, [](std::size_t) {});
  const double before = cpu_seconds();
  std::this_thread::sleep_for(200ms);
  const double used = cpu_seconds() - before;
  // After a call each worker looks out 2000 times and then sleeps. A turn is a load and a pause: 140 cycles
  // on the slowest processors, well under 1 us even with a sanitizer's bookkeeping. A worker that did not
  // sleep would use up to 200 ms.
  CHECK(used < workers * 2000 * 1e-6);
}

#if COUNTS_ALLOCATIONS
TEST_CASE("parallel_for of a thread_pool allocates nothing") {
  thread_pool pool(4);
  std::vector<int> calls(1000, 0);
  pool.parallel_for(calls.size(), [&](std::size_t i) { ++calls[i]; });
  const long before = allocations;
  for (int round = 0; round < 50; ++round) {
    pool.parallel_for(calls.size(), [&](std::size_t i) { ++calls[i]; });
    executor_ref(pool).parallel_for(3, [&](std::size_t) { pool.parallel_for(3, [](std::size_t) {}); });
  }
  CHECK(allocations == before);
}
#endif

TEST_CASE("thread pools come and go, used or not") {
  for (int round = 0; round < 200; ++round) {
    thread_pool pool(1 + round % 8);
    if (round % 3 == 1) CHECK(contract::each_index_once(pool, 9));
    if (round % 3 == 2) {
      thread_pool inner(2);  // tasks of one pool may use another
      CHECK(contract::each_index_once(pool, 3));
      std::atomic<int> calls{0};
      pool.parallel_for(4, [&](std::size_t) { inner.parallel_for(4, [&](std::size_t) { ++calls; }); });
      CHECK(calls == 16);
    }
  }
}

TEST_CASE("a thread_pool without a thread is refused") {
  CHECK(construction_error(0) == "thread_pool: concurrency is 0, must be at least 1: the caller is counted");
  CHECK(construction_error(-3) ==
        "thread_pool: concurrency is -3, must be at least 1: the caller is counted");
  CHECK(construction_error(1) == "none");
}
