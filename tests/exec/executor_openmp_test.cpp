// SPDX-License-Identifier: Apache-2.0
#include <ofp8/exec/openmp.hpp>

#include <string>
#include <type_traits>

#include "tests/catch.hpp"
#include "tests/exec/contract.hpp"

using namespace ofp8;

namespace {

static_assert(executor<openmp_executor> && executor<const openmp_executor>);
static_assert(!std::is_convertible_v<int, openmp_executor>);

std::string construction_error(std::ptrdiff_t concurrency) {
  try {
    openmp_executor{concurrency};
  } catch (const argument_error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("an openmp_executor of any size fulfils the executor contract") {
  for (int threads = 1; threads <= 8; ++threads) {
    const openmp_executor x(threads);
    CAPTURE(threads);
    CHECK(x.concurrency() == static_cast<std::size_t>(threads));
    contract::check_all(x);
  }
}

TEST_CASE("an openmp_executor has OpenMP's number of threads by default") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const openmp_executor x;
  omp_set_num_threads(before);
  CHECK(x.concurrency() == 3);
}

TEST_CASE("an openmp_executor runs its tasks in a parallel region of its size") {
  const openmp_executor x(2);
  int team[2] = {0, 0};
  x.parallel_for(2, [&](std::size_t i) { team[i] = omp_get_num_threads(); });
  CHECK(team[0] == 2);
  CHECK(team[1] == 2);
}

TEST_CASE("an openmp_executor without a thread is refused") {
  CHECK(construction_error(0) == "openmp_executor: concurrency is 0, must be from 1 to 2147483647");
  CHECK(construction_error(std::ptrdiff_t{1} << 40) ==
        "openmp_executor: concurrency is 1099511627776, must be from 1 to 2147483647");
}
