// SPDX-License-Identifier: Apache-2.0
// ofp8: who runs the tasks of an operation. An operation cuts its work into n tasks that do not touch each
// other's results and hands them to an executor; the bits of the result do not depend on which one it is.
// Without one the tasks run serially on the calling thread: the library starts no thread unasked.
//
//   thread_pool pool(4);                            // <ofp8/exec/thread_pool.hpp>, or anything of the
//   contract gemm_nt(a, w, d, {}, {.executor = pool});       // an lvalue: the executor outlives the call
//
// The contract of an executor `x`
//   x.concurrency()       an integer >= 1: how many tasks can run at the same time, the caller's thread
//   included
//                         where it takes part. It only sizes tasks: no result depends on it.
//   x.parallel_for(n, f)  calls f(i) exactly once for each std::size_t i < n and returns when all calls have
//                         ended; n = 0 calls nothing.
//     f           arrives as a const lvalue of type task_ref: two words, cheap to copy, valid until the
//     return. order       any, on any threads, several at once or none. The caller's thread may take part.
//     visibility  what the caller wrote before the call is visible to every task; what the tasks wrote is
//                 visible to the caller after it.
//     nesting     a task may call parallel_for of the same executor. It must not deadlock; running the inner
//                 tasks serially is enough.
//     concurrency several threads may call parallel_for of the same executor at the same time.
//     exceptions  if tasks throw, the first exception caught is rethrown to the caller, but not before every
//                 call of f that has begun has ended; calls that have not begun may be left out. (The tasks
//                 of this library do not throw.)
//     environment nothing is asked: a task of this library sets the floating-point environment that it needs
//                 on the thread where it runs, and restores what was there (exec/execution.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <ofp8/core/config.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

// Inside the tag because the caller's code is inlined into it.
template <class F>
inline void call_task(const void* object, std::size_t index) {
  (*static_cast<F*>(const_cast<void*>(object)))(index);
}

}  // namespace impl
OFP8_ALGORITHMS_END

class task_ref;
class executor_ref;

namespace detail {

template <class F>
concept task =
    !std::same_as<std::remove_cvref_t<F>, task_ref> && std::is_object_v<std::remove_reference_t<F>> &&
    std::invocable<std::remove_reference_t<F>&, std::size_t>;

}  // namespace detail

/// A reference to a callable `f(std::size_t)`, which must outlive it: what an executor is given to run.
class task_ref {
 public:
  // Implicit, as the argument of a parallel_for that is no template.
  template <detail::task F>
  OFP8_INLINE_MEMBER constexpr task_ref(F&& f) noexcept
      : object_(&f), call_(&impl::call_task<std::remove_reference_t<F>>) {}

  OFP8_INLINE_MEMBER void operator()(std::size_t index) const { call_(object_, index); }

 private:
  const void* object_;
  void (*call_)(const void*, std::size_t);
};

/// What `executor_ref` can refer to: `concurrency()` and `parallel_for(n, f)`, as the contract above says.
/// Both a template over f and a function that takes a task_ref or a std::function<void(std::size_t)> fit.
template <class X>
concept executor = requires(X& x, std::size_t n, const task_ref& f) {
  { x.concurrency() } -> std::integral;
  x.parallel_for(n, f);
};

namespace detail {

template <class X>
concept other_executor = !std::same_as<std::remove_cv_t<X>, executor_ref> && executor<X>;

}  // namespace detail

OFP8_ALGORITHMS_BEGIN
namespace impl {

template <class X>
inline std::size_t concurrency_of(const void* x) {
  const auto n = static_cast<X*>(const_cast<void*>(x))->concurrency();
  return n > 1 ? static_cast<std::size_t>(n) : 1;
}

template <class X>
inline void parallel_for_of(const void* x, std::size_t n, const task_ref& f) {
  static_cast<X*>(const_cast<void*>(x))->parallel_for(n, f);
}

inline void run_serially(const void*, std::size_t n, const task_ref& f) {
  for (std::size_t i = 0; i < n; ++i) f(i);
}

}  // namespace impl
OFP8_ALGORITHMS_END

/// A reference to an executor, which must outlive it; without one, the serial executor: tasks run in
/// increasing order on the calling thread. Allocates nothing. Is itself an executor.
class executor_ref {
 public:
  constexpr executor_ref() = default;

  /// Refers to `x`, implicitly: {.executor = pool}. A temporary is refused: it would be gone before its first
  /// task.
  template <detail::other_executor X>
  OFP8_INLINE_MEMBER constexpr executor_ref(X& x) noexcept
      : object_(&x), concurrency_(&impl::concurrency_of<X>), run_(&impl::parallel_for_of<X>) {}
  template <detail::other_executor X>
  executor_ref(const X&& a_temporary) = delete;

  /// At least 1.
  OFP8_INLINE_MEMBER std::size_t concurrency() const {
    return concurrency_ == nullptr ? 1 : concurrency_(object_);
  }

  /// Calls f(i) once for each i < n; the contract at the head of this file.
  template <class F>
  OFP8_INLINE_MEMBER void parallel_for(std::size_t n, F&& f) const {
    run_(object_, n, task_ref(f));
  }

 private:
  const void* object_ = nullptr;
  std::size_t (*concurrency_)(const void*) = nullptr;
  void (*run_)(const void*, std::size_t, const task_ref&) = &impl::run_serially;
};

}  // namespace ofp8
OFP8_STRICT_FP_END
