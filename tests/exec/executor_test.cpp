// SPDX-License-Identifier: Apache-2.0
#include <ofp8/exec/executor.hpp>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/exec/contract.hpp"

using namespace ofp8;

namespace {

// A user's executor whose parallel_for is a template: a thread a call, half of the tasks each.
struct two_threads {
  int concurrency() const { return 2; }

  template <class F>
  void parallel_for(std::size_t n, F&& f) {
    std::exception_ptr other_error, own_error;
    std::thread other([&] { run(0, n / 2, f, other_error); });
    run(n / 2, n, f, own_error);
    other.join();
    if (other_error) std::rethrow_exception(other_error);
    if (own_error) std::rethrow_exception(own_error);
  }

  template <class F>
  static void run(std::size_t first, std::size_t last, F& f, std::exception_ptr& error) {
    try {
      for (; first < last; ++first) f(first);
    } catch (...) {
      error = std::current_exception();
    }
  }
};

// One that takes a callable of a fixed type, const, and runs from the last task to the first.
struct backwards {
  std::size_t concurrency() const { return 1; }
  void parallel_for(std::size_t n, task_ref f) const {
    while (n > 0) f(--n);
  }
};

// One behind a virtual function, with std::function, as programs have them.
struct abstract_executor {
  virtual ~abstract_executor() = default;
  virtual long concurrency() = 0;
  virtual void parallel_for(std::size_t n, const std::function<void(std::size_t)>& f) = 0;
};
struct concrete_executor final : abstract_executor {
  long concurrency() override { return 3; }
  void parallel_for(std::size_t n, const std::function<void(std::size_t)>& f) override {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
};

struct reports_nothing {
  int concurrency() const { return 0; }
  void parallel_for(std::size_t, task_ref) const {}
};
struct no_concurrency {
  void parallel_for(std::size_t, task_ref) const {}
};
struct no_parallel_for {
  int concurrency() const { return 1; }
};
struct other_task {
  int concurrency() const { return 1; }
  void parallel_for(std::size_t, void (*)(int)) const {}
};

static_assert(executor<two_threads> && executor<backwards> && executor<abstract_executor> &&
              executor<executor_ref>);
static_assert(executor<const backwards> && !executor<const two_threads>);
static_assert(!executor<no_concurrency> && !executor<no_parallel_for> && !executor<other_task> &&
              !executor<int>);

static_assert(std::is_constructible_v<executor_ref, two_threads&>);
static_assert(std::is_constructible_v<executor_ref, const backwards&>);
static_assert(!std::is_constructible_v<executor_ref, two_threads>);
static_assert(!std::is_constructible_v<executor_ref, const backwards>);
static_assert(!std::is_constructible_v<executor_ref, no_concurrency&>);

static_assert(std::is_trivially_copyable_v<executor_ref> && std::is_trivially_copyable_v<task_ref>);
static_assert(sizeof(task_ref) == 2 * sizeof(void*) && sizeof(executor_ref) == 3 * sizeof(void*));

std::vector<std::size_t> order_of_tasks(executor_ref x, std::size_t n) {
  std::vector<std::size_t> order;
  x.parallel_for(n, [&](std::size_t i) { order.push_back(i); });
  return order;
}

}  // namespace

TEST_CASE("without an executor tasks run in increasing order on the calling thread") {
  const executor_ref serial;
  CHECK(serial.concurrency() == 1);
  CHECK(order_of_tasks(serial, 5) == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(order_of_tasks(serial, 0).empty());
  std::thread::id where;
  serial.parallel_for(1, [&](std::size_t) { where = std::this_thread::get_id(); });
  CHECK(where == std::this_thread::get_id());
  contract::check_all(serial);
}

TEST_CASE("a user's executor with a template parallel_for fulfils the contract through executor_ref") {
  two_threads x;
  contract::check_all(x);
}

TEST_CASE("a user's executor that takes a task_ref is called with every task, in its own order") {
  const backwards x;
  CHECK(order_of_tasks(x, 4) == std::vector<std::size_t>{3, 2, 1, 0});
  contract::check_all(x);
}

TEST_CASE("a user's executor may be an abstract class that takes a std::function") {
  concrete_executor concrete;
  abstract_executor& x = concrete;
  CHECK(executor_ref(x).concurrency() == 3);
  contract::check_all(x);
}

TEST_CASE("executor_ref reports a concurrency of at least 1") {
  const reports_nothing x;
  CHECK(executor_ref(x).concurrency() == 1);
}

TEST_CASE("a copy of an executor_ref, const or not, refers to the same executor") {
  const backwards x;
  executor_ref first = x;
  const executor_ref second = first;
  const executor_ref third(second);
  const executor_ref fourth(std::move(first));
  first = executor_ref();  // of no consequence for the copies
  for (const executor_ref& copy : {second, third, fourth}) {
    CHECK(order_of_tasks(copy, 2) == std::vector<std::size_t>{1, 0});
  }
}

TEST_CASE("a task_ref calls the callable it refers to, const, mutable or stateless") {
  std::size_t sum = 0;
  auto counts = [&sum, calls = 0](std::size_t i) mutable {
    ++calls;
    sum += 100 * static_cast<std::size_t>(calls) + i;
  };
  const task_ref f = counts;
  f(1);
  f(2);  // the second call of the same object
  CHECK(sum == 303);
  const auto adds = [&sum](std::size_t i) { sum += i; };
  const task_ref g(adds);
  g(7);
  CHECK(sum == 310);
}
