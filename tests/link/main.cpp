// SPDX-License-Identifier: Apache-2.0
// Two files of one program, one built for the baseline and one for AVX-512: each keeps its own algorithms
// (the baseline one runs on any x86-64, whichever the linker met first), and both return the same bytes.
#include <cstdio>
#include <cstring>

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

job_bytes baseline{}, wide{};

int main() {
  baseline_job(baseline);
  if (baseline.size == 0 || !baseline_refuses()) return 1;
  if (!runs_wide_code()) {
    std::printf("%zu bytes from the baseline file; this CPU lacks AVX-512\n", baseline.size);
    return 0;
  }
  wide_job(wide);
  const bool same = wide.size == baseline.size && std::memcmp(wide.data, baseline.data, wide.size) == 0;
  std::printf("%zu bytes from each file, %s\n", baseline.size, same ? "the same" : "DIFFERENT");
  return same && wide_refuses() ? 0 : 1;
}
