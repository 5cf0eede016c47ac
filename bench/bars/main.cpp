// SPDX-License-Identifier: Apache-2.0
// ofp8_bars: measures every bar, with the ceiling or peer it refers to, and prints a table. Exits with 1
// where one is missed.
#include <cstdio>

#include "bars/bars.hpp"
#include "ceilings/ceilings.hpp"
#include "ceilings/cpu.hpp"

namespace ofp8::bench {
namespace {

bool runs_v3() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

constexpr bar_table tables[] = {
    {"x86-64-v3 (AVX2, FMA, BMI2)", runs_v3, scalar_v3_bars},
};

bool is_met(const bar& b, double value) {
  return b.direction == bar::sense::at_least ? value >= b.limit : value <= b.limit;
}

bool measure(const bar& b) {
  const double value = b.measure();
  const bool met = is_met(b, value);
  std::printf("%-58s %8.2f  %s %.4g %-22s %s\n", b.what, value,
              b.direction == bar::sense::at_least ? ">=" : "<=", b.limit, b.unit, met ? "ok" : "MISSED");
  std::fflush(stdout);
  return met;
}

void print_rate(const char* what, std::optional<double> rate, const char* unit) {
  if (rate)
    std::printf("%s %.4g %s\n", what, *rate * 1e-9, unit);
  else
    std::printf("%s: not available\n", what);
}

void print_machine() {
  std::printf("%s\n", cpu_model().c_str());
  print_rate("clock", clock_hz(), "GHz");
  for (arithmetic a : arithmetics) print_rate(name(a), flops(a), "GF/s");
  std::printf("\n");
}

int run() {
  print_machine();
  int missed = 0;
  for (const bar_table& table : tables)
    for (const bar& b : table.bars()) missed += measure(b) ? 0 : 1;
  return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ofp8::bench

// The linker may keep a v3 copy of any inline function, so an older CPU is told before the first one runs.
int main() {
  for (const ofp8::bench::bar_table& table : ofp8::bench::tables) {
    if (table.runs_here()) continue;
    std::printf("not measured: this CPU lacks %s\n", table.needs);
    return 0;
  }
  return ofp8::bench::run();
}
