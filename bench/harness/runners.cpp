// SPDX-License-Identifier: Apache-2.0
#include "runners.hpp"

#include <thread>

#include <ofp8/arch/dispatch.hpp>
#include <ofp8/exec/thread_pool.hpp>

namespace ofp8::bench {
namespace {

std::vector<runner> make_runners() {
  std::vector<runner> all;
  for (isa i : available_isas()) all.push_back({.label = name(i), .how = {.isa = i}, .threads = 1});
  constexpr int threads = 2;
  if (std::thread::hardware_concurrency() >= threads) {
    static thread_pool pool(threads);  // started here, before any thread is pinned
    const isa best = available_isas().front();
    all.push_back({.label = std::string(name(best)) + "/2_threads",
                   .how = {.executor = pool, .isa = best},
                   .threads = threads});
  }
  return all;
}

void add(const std::string& name, const runner_body& body, const runner& who) {
  auto* b = benchmark::RegisterBenchmark((name + "/" + who.label).c_str(),
                                         [body, who](benchmark::State& state) { body(state, who); });
  if (who.threads > 1) b->UseRealTime();
}

}  // namespace

const std::vector<runner>& runners() {
  static const std::vector<runner> all = make_runners();
  return all;
}

void register_for_runners(const std::string& name, const runner_body& body, const runner_filter& suits) {
  for (const runner& who : runners())
    if (suits(who)) add(name, body, who);
}

void register_peer(const std::string& name, const std::string& label, const runner_body& body) {
  add(name, body, {.label = label, .how = {}, .threads = 1});
}

}  // namespace ofp8::bench
