// SPDX-License-Identifier: Apache-2.0
// ofp8: an executor that runs tasks on the threads of OpenMP, for programs that have those already. Opt-in:
// compile with -fopenmp.
//
//   openmp_executor omp;                            // as many threads as OpenMP would take
//   gemm_nt(a, w, d, {}, {.executor = omp});
#pragma once

#if !defined(_OPENMP)
#error "ofp8/exec/openmp.hpp needs OpenMP: compile with -fopenmp"
#else

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <ofp8/core/config.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/exec/executor.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// What came out of the tasks of one parallel region, which no exception may leave.
struct openmp_outcome {
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // of the first task that threw
};

inline void run_openmp_task(const task_ref& f, std::size_t index, openmp_outcome& outcome) noexcept {
#if OFP8_HAS_EXCEPTIONS
  if (outcome.failed.load(std::memory_order_relaxed)) return;
  try {
    f(index);
  } catch (...) {
    if (!outcome.failed.exchange(true)) outcome.error = std::current_exception();
  }
#else
  static_cast<void>(outcome);
  f(index);
#endif
}

inline void run_on_openmp(int threads, std::size_t n, const task_ref& f) {
  openmp_outcome outcome;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (n > 1)
  for (std::size_t i = 0; i < n; ++i) run_openmp_task(f, i, outcome);
#if OFP8_HAS_EXCEPTIONS
  if (outcome.error) std::rethrow_exception(outcome.error);
#endif
}

inline int checked_openmp_threads(std::ptrdiff_t threads) {
  if (threads < 1 || threads > 0x7fffffff) {
    detail::fail<argument_error>(detail::message()
                                 << "openmp_executor: concurrency is " << static_cast<std::int64_t>(threads)
                                 << ", must be from 1 to 2147483647");
  }
  return static_cast<int>(threads);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// An executor over OpenMP's threads, dynamic schedule. A nested call runs serially unless the program lets
/// OpenMP nest; calls from several threads get a team each, as OpenMP has it.
class openmp_executor {
 public:
  /// As many threads as a parallel region would take now (OMP_NUM_THREADS, omp_set_num_threads).
  OFP8_INLINE_MEMBER openmp_executor() noexcept : threads_(omp_get_max_threads()) {}
  /// Throws argument_error if concurrency < 1.
  OFP8_INLINE_MEMBER explicit openmp_executor(std::ptrdiff_t concurrency)
      : threads_(impl::checked_openmp_threads(concurrency)) {}

  OFP8_INLINE_MEMBER std::size_t concurrency() const noexcept { return static_cast<std::size_t>(threads_); }

  /// Calls f(i) once for each i < n; the contract of exec/executor.hpp.
  template <class F>
  OFP8_INLINE_MEMBER void parallel_for(std::size_t n, F&& f) const {
    impl::run_on_openmp(threads_, n, task_ref(f));
  }

 private:
  int threads_;
};

}  // namespace ofp8
OFP8_STRICT_FP_END

#endif
