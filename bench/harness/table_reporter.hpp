// SPDX-License-Identifier: Apache-2.0
// The table on the screen: a line per benchmark with its rates, and its shares of ceilings in percent.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

namespace ofp8::bench {

/// Lines without counters (errors, complexity) look as Google Benchmark has them.
class table_reporter : public benchmark::ConsoleReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  int name_width_ = 0;
};

}  // namespace ofp8::bench
