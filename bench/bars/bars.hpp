// SPDX-License-Identifier: Apache-2.0
// The bars: what this library promises as ratios to ceilings and to peers. Each file that measures some
// offers a table of them; main.cpp lists the tables.
#pragma once

#include <span>

namespace ofp8::bench {

struct bar {
  enum class sense { at_least, at_most };

  const char* what;
  const char* unit;
  double (*measure)();
  sense direction;
  double limit;
};

/// Bars of one set of instructions that the CPU must have.
struct bar_table {
  const char* needs;  ///< the machine, in words
  bool (*runs_here)() noexcept;
  std::span<const bar> (*bars)();
};

/// The scalar backend in a file compiled with -O3 -march=x86-64-v3.
std::span<const bar> scalar_v3_bars();

}  // namespace ofp8::bench
