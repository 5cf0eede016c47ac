// SPDX-License-Identifier: Apache-2.0
// Who runs a benchmark: every instruction set of this machine on one thread, then the best one on two. A new
// backend appears here by itself.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

#include <ofp8/exec/execution.hpp>

namespace ofp8::bench {

struct runner {
  std::string label;  ///< the last part of the benchmark's name
  execution how;
  int threads;
};

const std::vector<runner>& runners();

using runner_body = std::function<void(benchmark::State&, const runner&)>;
using runner_filter = std::function<bool(const runner&)>;

/// Registers `name`/label for each runner that `suits`.
void register_for_runners(
    const std::string& name, const runner_body& body,
    const runner_filter& suits = [](const runner&) { return true; });

/// Registers `name`/`label`: the same work, done by somebody else on one thread.
void register_peer(const std::string& name, const std::string& label, const runner_body& body);

/// Runs its argument before main(): how a *_bench.cpp adds its benchmarks.
struct at_start {
  explicit at_start(void (*registration)()) { registration(); }
};

}  // namespace ofp8::bench
