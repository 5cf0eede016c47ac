// SPDX-License-Identifier: Apache-2.0
// The machine a benchmark ran on. A figure without it means nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ofp8::bench {

/// The processor's name with its family and model: virtual machines often hide the name proper.
std::string cpu_model();

/// Those instruction sets that matter to FP8 kernels and that both the CPU and the operating system support.
std::vector<std::string> cpu_features();

/// Bytes of the data caches that CPU 0 uses. What the system does not tell is 32 KiB, 1 MiB and 32 MiB.
struct cache_sizes {
  std::size_t l1 = std::size_t{32} << 10;
  std::size_t l2 = std::size_t{1} << 20;
  std::size_t l3 = std::size_t{32} << 20;
};
const cache_sizes& caches();

/// Where the data of a benchmark live.
enum class memory_level { l1, l2, l3, dram };
inline constexpr memory_level memory_levels[] = {memory_level::l1, memory_level::l2, memory_level::l3,
                                                 memory_level::dram};
const char* name(memory_level level) noexcept;

/// Bytes, reads and writes together, that stay in this level: half of a cache; for DRAM several times the
/// last cache.
std::size_t working_set(memory_level level);

}  // namespace ofp8::bench
