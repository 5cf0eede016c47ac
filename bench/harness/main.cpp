// SPDX-License-Identifier: Apache-2.0
// ofp8_bench: every benchmark of this tree, the machine and its ceilings first.
//
//   ofp8_bench --benchmark_filter=gemm --benchmark_out=gemm.json
//
// The screen shows a table; --benchmark_out writes JSON with the same machine and ceilings in its context.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ofp8/arch/dispatch.hpp>

#include "ceilings/ceilings.hpp"
#include "ceilings/cpu.hpp"
#include "table_reporter.hpp"

namespace ofp8::bench {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string isa_names() {
  std::vector<std::string> names;
  for (isa i : available_isas()) names.emplace_back(name(i));
  return joined(names);
}

std::string in_billions(std::optional<double> rate, const char* unit) {
  if (!rate) return "not available";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", *rate * 1e-9, unit);
  return text;
}

std::string in_kibibytes(std::size_t bytes) { return std::to_string(bytes >> 10) + " KiB"; }

void add_machine() {
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("cpu_features", joined(cpu_features()));
  benchmark::AddCustomContext("cpu_caches", "L1 " + in_kibibytes(caches().l1) + ", L2 " +
                                                in_kibibytes(caches().l2) + ", L3 " +
                                                in_kibibytes(caches().l3));
  benchmark::AddCustomContext("cpu_clock", in_billions(clock_hz(), "GHz"));
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("isas", isa_names());
}

void add_ceilings() {
  for (arithmetic a : arithmetics)
    benchmark::AddCustomContext(std::string("ceiling_") + name(a), in_billions(flops(a), "GF/s"));
  for (memory_level level : memory_levels)
    for (traffic t : traffics)
      if (level >= memory_level::l3 || !is_non_temporal(t))  // such stores leave the caches anyway
        benchmark::AddCustomContext(std::string("ceiling_") + name(level) + "_" + name(t),
                                    in_billions(bytes_per_second(t, working_set(level)), "GB/s"));
}

bool lists_only(int count, char** arguments) {
  for (int i = 1; i < count; ++i)
    if (std::string_view(arguments[i]).substr(0, 22) == "--benchmark_list_tests") return true;
  return false;
}

int run(int count, char** arguments) {
  const bool list = lists_only(count, arguments);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  if (!list) {
    add_machine();
    add_ceilings();
  }
  table_reporter table;
  benchmark::RunSpecifiedBenchmarks(&table);
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace ofp8::bench

int main(int count, char** arguments) { return ofp8::bench::run(count, arguments); }
