// SPDX-License-Identifier: Apache-2.0
// The guard gives its scope the one known environment, and the caller's back.
#include <cfenv>
#include <vector>

#include <ofp8/core/fp_environment.hpp>

#include "tests/catch.hpp"
#include "tests/support/fp_environments.hpp"

using namespace ofp8;

namespace {

volatile float one = 1, tiny = 0x1p-24f, subnormal = 0x1p-140f, two = 2;

struct observed {
  int mode;
  bool nearest, keeps_subnormal_results, keeps_subnormal_inputs;
};

// By results, not by control bits: 1 + 2^-24 is 1 to nearest even and toward zero, 1 - 2^-25 only tells the latter.
observed observe() {
  observed o{};
  o.mode = std::fegetround();
  const float up = one + tiny, down = one - tiny / 2, minus_up = -one - tiny;
  o.nearest = up == 1 && down == 1 && minus_up == -1;
  o.keeps_subnormal_results = subnormal / two != 0;
  o.keeps_subnormal_inputs = subnormal * 0x1p30f == 0x1p-110f;
  return o;
}

}  // namespace

TEST_CASE("inside the guard floats round to nearest even and subnormals are kept", "[fp_environment]") {
  std::vector<observed> inside;
  test::for_each_fp_environment([&] {
    const detail::fp_environment_guard guard;
    inside.push_back(observe());
  });
  REQUIRE(inside.size() >= 4);
  for (const observed& o : inside) {
    CHECK(o.nearest);
    CHECK(o.keeps_subnormal_results);
    CHECK(o.keeps_subnormal_inputs);
#if defined(__aarch64__)
    CHECK(o.mode == FE_TONEAREST);
#endif
  }
}

#if defined(__x86_64__)
TEST_CASE("after the guard every bit of the caller's control and status is back", "[fp_environment]") {
  const unsigned original = _mm_getcsr();
  struct state {
    unsigned before, inside, after;
  };
  std::vector<state> seen;
  for (unsigned rounding = 0; rounding < 4; ++rounding) {
    for (const unsigned flush : {0u, test::flush_to_zero, test::denormals_are_zero,
                                 test::flush_to_zero | test::denormals_are_zero}) {
      for (const unsigned flags : {0x00u, 0x20u, 0x3fu}) {  // sticky exception flags
        for (const unsigned masks :
             {0x1f80u, 0x1f00u, 0x1d80u}) {              // all masked, invalid unmasked, division unmasked
          if (masks != 0x1f80u && flags != 0) continue;  // a set flag with its mask clear would trap
          const unsigned before = rounding << 13 | flush | flags | masks;
          state s{before, 0, 0};
          _mm_setcsr(before);
          {
            const detail::fp_environment_guard guard;
            s.inside = _mm_getcsr();
            one = one / 3 * 3;  // raises the inexact flag
          }
          s.after = _mm_getcsr();
          _mm_setcsr(original);
          one = 1;
          seen.push_back(s);
        }
      }
    }
  }
  for (const state& s : seen) {
    CHECK((s.inside & ~0x3fu) == 0x1f80u);
    CHECK(s.after == s.before);
  }
}

TEST_CASE("guards nest", "[fp_environment]") {
  const unsigned original = _mm_getcsr();
  _mm_setcsr(original | 0x6000 | test::flush_to_zero);
  const unsigned before = _mm_getcsr();
  unsigned between = 0;
  {
    const detail::fp_environment_guard outer;
    { const detail::fp_environment_guard inner; }
    between = _mm_getcsr();
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(original);
  CHECK((between & ~0x3fu) == 0x1f80u);
  CHECK(after == before);
}
#endif

TEST_CASE("the environments of the tests are really different from each other", "[fp_environment]") {
  std::vector<observed> outside;
  test::for_each_fp_environment([&] { outside.push_back(observe()); });
  std::size_t unlike = 0, flushing = 0;
  for (const observed& o : outside) {
    unlike += !o.nearest;
    flushing += !o.keeps_subnormal_results;
  }
  CHECK(unlike == outside.size() / 4 * 3);
#if defined(__x86_64__)
  CHECK(outside.size() == 16);
  CHECK(flushing > 0);
#endif
  CHECK(std::fegetround() == FE_TONEAREST);
}
