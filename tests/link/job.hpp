// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// The two builds of job.cpp: OFP8_JOB and OFP8_REFUSES name one of each pair.
std::vector<unsigned char> baseline_job();
std::vector<unsigned char> wide_job();
bool baseline_refuses();
bool wide_refuses();
