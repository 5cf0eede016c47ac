// SPDX-License-Identifier: Apache-2.0
#include <ofp8/exec/execution.hpp>
#include <ofp8/exec/thread_pool.hpp>

#include <array>
#include <cfenv>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

// Takes it as the operations do.
execution passed(const execution& where = {}) { return where; }

static_assert(std::is_aggregate_v<execution>);
static_assert(!std::is_constructible_v<scratch_ref, std::vector<std::byte>>);         // would dangle
static_assert(!std::is_constructible_v<scratch_ref, const std::vector<std::byte>&>);  // is not ours to write
static_assert(!std::is_constructible_v<scratch_ref, std::vector<float>&>);
static_assert(std::is_constructible_v<scratch_ref, std::span<std::byte>>);

// MXCSR or FPCR without the sticky flags.
auto fp_mode() { return detail::read_fp_control() & ~detail::fp_status_flags; }

}  // namespace

TEST_CASE("an execution is serial, automatic and without scratch by default") {
  const execution where = passed();
  CHECK(where.executor.concurrency() == 1);
  CHECK(where.isa == isa::automatic);
  CHECK(where.scratch.data() == nullptr);
  CHECK(where.scratch.size() == 0);
}

TEST_CASE("each member of an execution is set alone, by its name") {
  thread_pool pool(3);
  std::vector<std::byte> scratch(40);
  CHECK(passed({.executor = pool}).executor.concurrency() == 3);
  CHECK(passed({.isa = isa::avx2}).isa == isa::avx2);
  CHECK(passed({.scratch = scratch}).scratch.size() == 40);
  const execution all = passed({.executor = pool, .isa = isa::scalar, .scratch = scratch});
  CHECK(all.executor.concurrency() == 3);
  CHECK(all.isa == isa::scalar);
  CHECK(all.scratch.data() == scratch.data());
}

TEST_CASE("scratch is any contiguous range of bytes that outlives the call") {
  std::vector<unsigned char> unsigned_chars(5);
  std::array<char, 6> chars{};
  std::byte bytes[7];
  CHECK(scratch_ref(unsigned_chars).size() == 5);
  CHECK(scratch_ref(unsigned_chars).data() == reinterpret_cast<std::byte*>(unsigned_chars.data()));
  CHECK(scratch_ref(chars).size() == 6);
  CHECK(scratch_ref(bytes).data() == bytes);
  CHECK(scratch_ref(std::span(bytes).first(3)).size() == 3);
  CHECK(scratch_ref(bytes, 2).size() == 2);
}

TEST_CASE("every instruction set has a name") {
  const std::vector<std::string> names = {"automatic", "scalar", "avx2", "avx512", "avx512_bf16", "neon"};
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(name(static_cast<isa>(i)) == names[i]);
  CHECK(name(static_cast<isa>(names.size())) == std::string("unknown"));
  static_assert(name(isa::neon)[0] == 'n');
}

TEST_CASE("a task of an operation runs in the known floating-point environment on every thread") {
  // Workers inherit the environment in which the pool was made: the worst case.
  const auto before = detail::read_fp_control();
  std::fesetround(FE_UPWARD);
#if OFP8_X86_64
  detail::write_fp_control(detail::read_fp_control() | 0x8040);  // FTZ and DAZ
#endif
  const auto strange = fp_mode();
  constexpr std::size_t tasks = 200;
  std::vector<decltype(fp_mode())> bare(tasks), in_task(tasks), after(tasks);
  {
    thread_pool pool(4);
    pool.parallel_for(tasks, [&](std::size_t i) { bare[i] = fp_mode(); });
    impl::for_each_task({.executor = pool}, tasks, [&](std::size_t i) { in_task[i] = fp_mode(); });
    pool.parallel_for(tasks, [&](std::size_t i) { after[i] = fp_mode(); });
  }
  const auto caller_after = fp_mode();
  detail::write_fp_control(before);
  std::fesetround(FE_TONEAREST);

  CHECK(strange != detail::known_fp_control);
  CHECK(bare == std::vector(tasks, strange));
  CHECK(in_task == std::vector(tasks, decltype(strange){detail::known_fp_control}));
  CHECK(after == std::vector(tasks, strange));  // the worker's own is back
  CHECK(caller_after == strange);
}
