// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// What a job returns. No std::vector: its members are inline functions outside the library's tag, so the
// program would show what the linker does to them.
struct job_bytes {
  unsigned char data[16384];
  std::size_t size;
};

// The two builds of job.cpp: OFP8_JOB and OFP8_REFUSES name one of each pair.
void baseline_job(job_bytes& bytes);
void wide_job(job_bytes& bytes);
bool baseline_refuses();
bool wide_refuses();
