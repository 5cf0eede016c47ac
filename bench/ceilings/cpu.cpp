// SPDX-License-Identifier: Apache-2.0
#include "ceilings/cpu.hpp"

#include <algorithm>
#include <fstream>

namespace ofp8::bench {
namespace {

// The value of the first line "key : value" of /proc/cpuinfo.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t end = line.find_last_not_of(" \t", colon - 1);
    if (line.substr(0, end + 1) == key && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return {};
}

cache_sizes read_caches() {
  cache_sizes sizes;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    int level = 0;
    std::size_t kibibytes = 0;  // the file says "1024K"
    std::string type;
    std::ifstream(folder + "level") >> level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> kibibytes;
    if (kibibytes == 0 || type == "Instruction") continue;
    if (level == 1) sizes.l1 = kibibytes << 10;
    if (level == 2) sizes.l2 = kibibytes << 10;
    if (level == 3) sizes.l3 = kibibytes << 10;
  }
  return sizes;
}

}  // namespace

std::string cpu_model() {
  const std::string model = cpuinfo("model name");
  if (model.empty()) return "unknown";
  return model + " (family " + cpuinfo("cpu family") + ", model " + cpuinfo("model") + ")";
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  // A macro, because the builtin takes nothing but a literal.
#define OFP8_BENCH_FEATURE(feature) \
  if (__builtin_cpu_supports(feature)) found.emplace_back(feature)
  OFP8_BENCH_FEATURE("avx");
  OFP8_BENCH_FEATURE("avx2");
  OFP8_BENCH_FEATURE("fma");
  OFP8_BENCH_FEATURE("avx512f");
  OFP8_BENCH_FEATURE("avx512bw");
  OFP8_BENCH_FEATURE("avx512vl");
  OFP8_BENCH_FEATURE("avx512dq");
  OFP8_BENCH_FEATURE("avx512vbmi");
  OFP8_BENCH_FEATURE("avx512bf16");
#undef OFP8_BENCH_FEATURE
#endif
  return found;
}

const cache_sizes& caches() {
  static const cache_sizes sizes = read_caches();
  return sizes;
}

const char* name(memory_level level) noexcept {
  switch (level) {
    case memory_level::l1:
      return "L1";
    case memory_level::l2:
      return "L2";
    case memory_level::l3:
      return "L3";
    case memory_level::dram:
      return "DRAM";
  }
  return "unknown";
}

std::size_t working_set(memory_level level) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const cache_sizes& c = caches();
  switch (level) {
    case memory_level::l1:
      return c.l1 / 2;
    case memory_level::l2:
      return c.l2 / 2;
    case memory_level::l3:  // a virtual machine often sees the whole of a cache that it shares
      return std::clamp(c.l3 / 2, 2 * c.l2, std::max(2 * c.l2, 32 * mebibyte));
    case memory_level::dram:
      return std::clamp(8 * c.l3, 256 * mebibyte, 1024 * mebibyte);
  }
  return 0;
}

}  // namespace ofp8::bench
