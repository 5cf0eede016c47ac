// SPDX-License-Identifier: Apache-2.0
#include "table_reporter.hpp"

#include <cstdio>
#include <string>

namespace ofp8::bench {
namespace {

constexpr const char share_prefix[] = "of_";

void print_counter(const std::string& name, double value) {
  if (name.rfind(share_prefix, 0) == 0)
    std::printf("  %s %.1f %%", name.c_str(), 100 * value);
  else
    std::printf("  %s %.4g", name.c_str(), value);
}

double seconds_of(const table_reporter::Run& run) {
  const bool wall = run.run_name.time_type == "real_time";
  const double time = wall ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
  return time / benchmark::GetTimeUnitMultiplier(run.time_unit);
}

void print_time(double seconds) {
  if (seconds < 1e-3)
    std::printf(" %9.2f us", seconds * 1e6);
  else
    std::printf(" %9.2f ms", seconds * 1e3);
}

}  // namespace

bool table_reporter::ReportContext(const Context& context) {
  name_width_ = static_cast<int>(context.name_field_width);
  return ConsoleReporter::ReportContext(context);
}

void table_reporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.counters.empty()) {
      ConsoleReporter::ReportRuns({run});
      continue;
    }
    std::printf("%-*s", name_width_, run.benchmark_name().c_str());
    print_time(seconds_of(run));
    for (const auto& [name, counter] : run.counters) print_counter(name, counter.value);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace ofp8::bench
