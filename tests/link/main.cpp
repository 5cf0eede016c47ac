// SPDX-License-Identifier: Apache-2.0
// Two files of one program, one built for the baseline and one for AVX-512: each keeps its own algorithms
// (the baseline one runs on any x86-64, whichever the linker met first), and both return the same bytes.
#include <cstdio>

#include "job.hpp"

namespace {

bool runs_wide_code() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}

}  // namespace

int main() {
  const std::vector<unsigned char> baseline = baseline_job();
  if (!baseline_refuses()) return 1;
  if (!runs_wide_code()) {
    std::printf("%zu bytes from the baseline file; this CPU lacks AVX-512\n", baseline.size());
    return 0;
  }
  const bool same = wide_job() == baseline && wide_refuses();
  std::printf("%zu bytes from each file, %s\n", baseline.size(), same ? "the same" : "DIFFERENT");
  return same ? 0 : 1;
}
