// SPDX-License-Identifier: Apache-2.0
// The timed loop of a benchmark and its counters: rates, and their shares of what this machine can do at
// best. Shares are fractions (1 is the ceiling) named of_<ceiling>; a ceiling that the machine does not have
// leaves its counter out.
//
//   measurement m(state, who.threads, [&] { encode(in, codes, who.how); });
//   m.elements(n);                                     // Gel/s, cycles_per_64
//   m.bytes(5 * n, traffic::read4_write1);             // GB/s, of_r4w1, of_memcpy
//   m.flops(2 * rows * columns * depth);               // GF/s, of_fma_peak, of_bf16_dot_peak
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <optional>
#include <string>

#include "ceilings/ceilings.hpp"
#include "ceilings/timing.hpp"

namespace ofp8::bench {

class measurement {
 public:
  /// Runs the benchmark's loop around `call`: pinned and by the thread's CPU time, or, where `call` uses
  /// several threads, by the wall.
  template <class F>
  measurement(benchmark::State& state, int threads, F&& call) : state_(state), threads_(threads) {
    std::optional<pinned> here;
    if (threads == 1) here.emplace(0);
    const clock_kind clock = clock_for(threads);
    const double start = now(clock);
    for (auto _ : state) {
      call();
      benchmark::ClobberMemory();
    }
    seconds_ = (now(clock) - start) / static_cast<double>(state.iterations());
  }

  /// Elements that one call handles.
  void elements(std::size_t per_call);
  /// Bytes that one call reads and writes at least; the ceilings are `shape` over as many bytes and,
  /// where anything is written, memcpy.
  void bytes(std::size_t per_call, traffic shape);
  /// A multiply and an add are two.
  void flops(double per_call);

 private:
  void share(const std::string& ceiling, double rate, std::optional<double> limit);

  benchmark::State& state_;
  int threads_;
  double seconds_ = 0;  // of one call
};

}  // namespace ofp8::bench
