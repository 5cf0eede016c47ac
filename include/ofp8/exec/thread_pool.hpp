// SPDX-License-Identifier: Apache-2.0
// ofp8: an executor with threads of its own. The calling thread works too, tasks are claimed as threads
// become free, and an idle pool sleeps. Opt-in: not part of <ofp8/ofp8.hpp>.
//
//   thread_pool pool(4);                            // three threads and the caller
//   gemm_nt(a, w, d, {}, {.executor = pool});
//   pool.parallel_for(n, [&](std::size_t i) { ... });
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/exec/executor.hpp>

#if OFP8_X86_64
#include <xmmintrin.h>
#endif

namespace ofp8 {
namespace detail {

// One parallel_for. It lives on its caller's stack, in the pool's list for as long as it has unclaimed tasks.
struct pool_job {
  OFP8_INLINE_MEMBER pool_job(const task_ref& f, std::size_t n) noexcept : task(f), tasks(n) {}
  OFP8_INLINE_MEMBER ~pool_job() {}
  pool_job(const pool_job&) = delete;
  pool_job& operator=(const pool_job&) = delete;

  const task_ref task;
  const std::size_t tasks;
  std::atomic<std::size_t> next{0};     // the first unclaimed task
  std::atomic<std::size_t> helpers{0};  // workers inside; changes under the pool's mutex
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // of the first task that threw
  pool_job* older = nullptr;
  pool_job* newer = nullptr;
};

struct pool_state {
  OFP8_INLINE_MEMBER pool_state() {}
  OFP8_INLINE_MEMBER ~pool_state() {}
  pool_state(const pool_state&) = delete;
  pool_state& operator=(const pool_state&) = delete;

  std::mutex mutex;
  std::condition_variable posted;  // a job came, or the end
  std::condition_variable left;    // the last helper of some job left it
  pool_job* newest = nullptr;
  std::atomic<std::uint32_t> news{0};  // counts what `posted` announces; changes under the mutex
  bool stopping = false;
  std::size_t concurrency = 1;
  int spins = 0;
  std::vector<std::jthread> workers;  // last: the members above outlive the threads
};

OFP8_INLINE void spin_pause() noexcept {
#if OFP8_X86_64
  _mm_pause();
#elif OFP8_AARCH64
  __asm__ volatile("yield");
#endif
}

}  // namespace detail

OFP8_STRICT_FP_BEGIN
OFP8_ALGORITHMS_BEGIN
namespace impl {

// Claims a share of the unclaimed tasks that shrinks towards the end: few claims, and no thread is left alone
// with a large piece.
inline bool claim(detail::pool_job& job, std::size_t concurrency, std::size_t& first, std::size_t& last) {
  first = job.next.load(std::memory_order_relaxed);
  do {
    if (first >= job.tasks) return false;
    const std::size_t share = (job.tasks - first) / (4 * concurrency);
    last = first + (share == 0 ? 1 : share);
  } while (!job.next.compare_exchange_weak(first, last, std::memory_order_relaxed));
  return true;
}

inline void run_claimed_tasks(detail::pool_job& job, std::size_t concurrency) {
  std::size_t first = 0, last = 0;
  while (claim(job, concurrency, first, last)) {
    for (std::size_t i = first; i < last; ++i) job.task(i);
  }
}

inline void work_on(detail::pool_job& job, std::size_t concurrency) noexcept {
#if OFP8_HAS_EXCEPTIONS
  try {
    run_claimed_tasks(job, concurrency);
  } catch (...) {
    if (!job.failed.exchange(true)) job.error = std::current_exception();
    job.next.store(job.tasks, std::memory_order_relaxed);  // what nobody has claimed is left out
  }
#else
  run_claimed_tasks(job, concurrency);
#endif
}

inline bool has_unclaimed_tasks(const detail::pool_job& job) {
  return job.next.load(std::memory_order_relaxed) < job.tasks;
}

// The newest first: an inner parallel_for holds up the task that called it.
inline detail::pool_job* find_job(const detail::pool_state& pool) {
  detail::pool_job* job = pool.newest;
  while (job != nullptr && !has_unclaimed_tasks(*job)) job = job->older;
  return job;
}

// Looks out for news for some microseconds, because the next operation of a layer often follows at once and a
// sleeping thread takes longer than that to wake up.
inline bool spin_for_news(detail::pool_state& pool, std::unique_lock<std::mutex>& lock) {
  const std::uint32_t seen = pool.news.load(std::memory_order_relaxed);
  lock.unlock();
  for (int i = 0; i < pool.spins && pool.news.load(std::memory_order_relaxed) == seen; ++i) {
    detail::spin_pause();
  }
  lock.lock();
  return pool.news.load(std::memory_order_relaxed) != seen;
}

inline void help(detail::pool_state& pool, detail::pool_job& job, std::unique_lock<std::mutex>& lock) {
  job.helpers.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  work_on(job, pool.concurrency);
  lock.lock();
  // Under the mutex: once it is free the caller may return, and the job is gone.
  if (job.helpers.fetch_sub(1, std::memory_order_release) == 1) pool.left.notify_all();
}

inline void run_worker(detail::pool_state& pool) noexcept {
  std::unique_lock<std::mutex> lock(pool.mutex);
  while (!pool.stopping) {
    if (detail::pool_job* const job = find_job(pool)) {
      help(pool, *job, lock);
    } else if (!spin_for_news(pool, lock)) {
      pool.posted.wait(lock);
    }
  }
}

// What a thread starts with. A type of the tagged namespace, because std::jthread's constructor is a template of
// it that zeroes memory: with a plain function pointer all files would share one copy, with the instructions of
// one of them.
struct worker {
  detail::pool_state* pool;
  void operator()() const noexcept { run_worker(*pool); }
};

inline void wake(detail::pool_state& pool, std::size_t useful_workers) {
  if (useful_workers >= pool.workers.size()) {
    pool.posted.notify_all();
  } else {
    for (std::size_t i = 0; i < useful_workers; ++i) pool.posted.notify_one();
  }
}

inline void post(detail::pool_state& pool, detail::pool_job& job) {
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    job.older = pool.newest;
    if (pool.newest != nullptr) pool.newest->newer = &job;
    pool.newest = &job;
    pool.news.fetch_add(1, std::memory_order_relaxed);
  }
  wake(pool, job.tasks - 1);
}

inline void withdraw(detail::pool_state& pool, detail::pool_job& job) {
  (job.newer != nullptr ? job.newer->older : pool.newest) = job.older;
  if (job.older != nullptr) job.older->newer = job.newer;
}

// Waits for the workers that are still inside; they cannot be waiting for this thread, only for jobs that
// their own tasks posted.
inline void finish(detail::pool_state& pool, detail::pool_job& job) {
  for (int i = 0; i < pool.spins && job.helpers.load(std::memory_order_relaxed) != 0; ++i) {
    detail::spin_pause();
  }
  std::unique_lock<std::mutex> lock(pool.mutex);
  withdraw(pool, job);
  while (job.helpers.load(std::memory_order_acquire) != 0) pool.left.wait(lock);
}

inline void run_on_pool(detail::pool_state& pool, std::size_t n, const task_ref& f) {
  if (n <= 1 || pool.concurrency == 1) {
    for (std::size_t i = 0; i < n; ++i) f(i);
    return;
  }
  detail::pool_job job(f, n);
  post(pool, job);
  work_on(job, pool.concurrency);
  finish(pool, job);
#if OFP8_HAS_EXCEPTIONS
  if (job.error) std::rethrow_exception(std::move(job.error));
#endif
}

inline void start_pool(detail::pool_state& pool, std::ptrdiff_t concurrency) {
  if (concurrency < 1) {
    detail::fail<argument_error>(detail::message()
                                 << "thread_pool: concurrency is " << static_cast<std::int64_t>(concurrency)
                                 << ", must be at least 1: the caller is counted");
  }
  pool.concurrency = static_cast<std::size_t>(concurrency);
  // Spinning helps only while every thread has a core.
  pool.spins = pool.concurrency <= std::thread::hardware_concurrency() ? 2000 : 0;
  pool.workers.reserve(pool.concurrency - 1);
  for (std::size_t i = 1; i < pool.concurrency; ++i) {
    pool.workers.emplace_back(worker{&pool});
  }
}

inline void stop_pool(detail::pool_state& pool) noexcept {
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    pool.stopping = true;
    pool.news.fetch_add(1, std::memory_order_relaxed);
  }
  wake(pool, pool.workers.size());
  pool.workers.clear();  // joins
}

}  // namespace impl
OFP8_ALGORITHMS_END
OFP8_STRICT_FP_END

/// An executor of `concurrency` threads, the caller of parallel_for included. Several threads may call it at
/// once and a task may call it again: all of them share the same workers, and each caller works on its own
/// tasks. parallel_for allocates nothing. The pool must outlive the calls.
class thread_pool {
 public:
  /// Starts concurrency - 1 threads. Throws argument_error if concurrency < 1, std::system_error if the
  /// system refuses a thread.
  OFP8_INLINE_MEMBER explicit thread_pool(std::ptrdiff_t concurrency) : thread_pool() {
    impl::start_pool(state_, concurrency);
  }
  /// Waits for the threads to end.
  OFP8_INLINE_MEMBER ~thread_pool() { impl::stop_pool(state_); }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  OFP8_INLINE_MEMBER std::size_t concurrency() const noexcept { return state_.concurrency; }

  /// Calls f(i) once for each i < n; the contract of exec/executor.hpp.
  template <class F>
  OFP8_INLINE_MEMBER void parallel_for(std::size_t n, F&& f) {
    impl::run_on_pool(state_, n, task_ref(f));
  }

 private:
  // Delegated to, so that a constructor that fails half-way runs the destructor.
  OFP8_INLINE_MEMBER thread_pool() {}

  detail::pool_state state_;
};

}  // namespace ofp8
