// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "ceilings/buffer.hpp"
#include "ceilings/ceilings.hpp"
#include "ceilings/timing.hpp"

namespace ofp8::bench {
namespace {

// A loop that reads and writes so many bytes per step.
struct stream {
  void (*run)(const std::byte* in, std::byte* out, std::size_t steps) noexcept;
  std::size_t reads, writes;
};

// The loops of one register width.
struct streams {
  stream read, read4_write1, read2_write1, read1_write2, read1_write4;
  stream read4_write1_nt, read2_write1_nt, read1_write2_nt, read1_write4_nt;
};

#if defined(__x86_64__)

#define OFP8_BENCH_LOADS(move, reg, bytes, numbers) \
  ".irp i, " numbers "\n\t" move " \\i*" #bytes "(%[in]), %%" reg "\\i\n.endr\n"

#define OFP8_BENCH_STORES(move, reg, bytes, numbers) \
  ".irp i, " numbers "\n\t" move " %%" reg "0, \\i*" #bytes "(%[out])\n.endr\n"

#define OFP8_BENCH_LOOP(function, body, in_bytes, out_bytes, finish)                                \
  void function(const std::byte* in, std::byte* out, std::size_t steps) noexcept {                  \
    asm volatile("1:\n" body "add $" #in_bytes                                                      \
                 ", %[in]\n\t"                                                                      \
                 "add $" #out_bytes                                                                 \
                 ", %[out]\n\t"                                                                     \
                 "dec %[steps]\n\t"                                                                 \
                 "jnz 1b\n\t" finish                                                                \
                 : [in] "+r"(in), [out] "+r"(out), [steps] "+r"(steps)                              \
                 :                                                                                  \
                 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"); \
  }

// All loops of one width; each handles eight vectors a step on its busier side. The values stored do not
// matter, so every store takes the register loaded first.
#define OFP8_BENCH_STREAMS(width, load, store, store_nt, reg, bytes, finish)                                 \
  OFP8_BENCH_LOOP(width##_read, OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3,4,5,6,7"), 8 * bytes, 0, finish) \
  OFP8_BENCH_LOOP(width##_4_1,                                                                               \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3,4,5,6,7")                                      \
                      OFP8_BENCH_STORES(store, reg, bytes, "0,1"),                                           \
                  8 * bytes, 2 * bytes, finish)                                                              \
  OFP8_BENCH_LOOP(width##_2_1,                                                                               \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3,4,5,6,7")                                      \
                      OFP8_BENCH_STORES(store, reg, bytes, "0,1,2,3"),                                       \
                  8 * bytes, 4 * bytes, finish)                                                              \
  OFP8_BENCH_LOOP(width##_1_2,                                                                               \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3")                                              \
                      OFP8_BENCH_STORES(store, reg, bytes, "0,1,2,3,4,5,6,7"),                               \
                  4 * bytes, 8 * bytes, finish)                                                              \
  OFP8_BENCH_LOOP(width##_1_4,                                                                               \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1")                                                  \
                      OFP8_BENCH_STORES(store, reg, bytes, "0,1,2,3,4,5,6,7"),                               \
                  2 * bytes, 8 * bytes, finish)                                                              \
  OFP8_BENCH_LOOP(width##_4_1_nt,                                                                            \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3,4,5,6,7")                                      \
                      OFP8_BENCH_STORES(store_nt, reg, bytes, "0,1"),                                        \
                  8 * bytes, 2 * bytes, finish "\n\tsfence")                                                 \
  OFP8_BENCH_LOOP(width##_2_1_nt,                                                                            \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3,4,5,6,7")                                      \
                      OFP8_BENCH_STORES(store_nt, reg, bytes, "0,1,2,3"),                                    \
                  8 * bytes, 4 * bytes, finish "\n\tsfence")                                                 \
  OFP8_BENCH_LOOP(width##_1_2_nt,                                                                            \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1,2,3")                                              \
                      OFP8_BENCH_STORES(store_nt, reg, bytes, "0,1,2,3,4,5,6,7"),                            \
                  4 * bytes, 8 * bytes, finish "\n\tsfence")                                                 \
  OFP8_BENCH_LOOP(width##_1_4_nt,                                                                            \
                  OFP8_BENCH_LOADS(load, reg, bytes, "0,1")                                                  \
                      OFP8_BENCH_STORES(store_nt, reg, bytes, "0,1,2,3,4,5,6,7"),                            \
                  2 * bytes, 8 * bytes, finish "\n\tsfence")                                                 \
  constexpr streams width##_streams = {                                                                      \
      {width##_read, 8 * bytes, 0},           {width##_4_1, 8 * bytes, 2 * bytes},                           \
      {width##_2_1, 8 * bytes, 4 * bytes},    {width##_1_2, 4 * bytes, 8 * bytes},                           \
      {width##_1_4, 2 * bytes, 8 * bytes},    {width##_4_1_nt, 8 * bytes, 2 * bytes},                        \
      {width##_2_1_nt, 8 * bytes, 4 * bytes}, {width##_1_2_nt, 4 * bytes, 8 * bytes},                        \
      {width##_1_4_nt, 2 * bytes, 8 * bytes}};

OFP8_BENCH_STREAMS(xmm, "movaps", "movaps", "movntps", "xmm", 16, "")
OFP8_BENCH_STREAMS(ymm, "vmovaps", "vmovaps", "vmovntps", "ymm", 32, "vzeroupper")
OFP8_BENCH_STREAMS(zmm, "vmovaps", "vmovaps", "vmovntps", "zmm", 64, "vzeroupper")

const streams* widest() {
  if (__builtin_cpu_supports("avx512f")) return &zmm_streams;
  if (__builtin_cpu_supports("avx")) return &ymm_streams;
  return &xmm_streams;
}

#else

const streams* widest() { return nullptr; }

#endif

std::optional<stream> stream_of(traffic t) {
  const streams* s = widest();
  if (s == nullptr) return std::nullopt;
  switch (t) {
    case traffic::read:
      return s->read;
    case traffic::memcpy:
      return std::nullopt;  // not a loop of ours
    case traffic::read4_write1:
      return s->read4_write1;
    case traffic::read2_write1:
      return s->read2_write1;
    case traffic::read1_write2:
      return s->read1_write2;
    case traffic::read1_write4:
      return s->read1_write4;
    case traffic::read4_write1_nt:
      return s->read4_write1_nt;
    case traffic::read2_write1_nt:
      return s->read2_write1_nt;
    case traffic::read1_write2_nt:
      return s->read1_write2_nt;
    case traffic::read1_write4_nt:
      return s->read1_write4_nt;
  }
  return std::nullopt;
}

// Each thread has memory of its own.
struct operands {
  buffer<std::byte> in, out;
};

double measure_memcpy(std::size_t bytes, int threads) {
  const std::size_t half = std::max<std::size_t>(bytes / 2, 1);
  std::vector<operands> memory;
  for (int t = 0; t < threads; ++t) memory.push_back({buffer<std::byte>(half), buffer<std::byte>(half)});
  return total_rate(threads, [&](int thread, clock_kind clock) {
    operands& mine = memory[static_cast<std::size_t>(thread)];
    const auto copy = [&] { std::memcpy(mine.out.data(), mine.in.data(), half); };
    return 2 * static_cast<double>(half) / median_seconds(copy, clock);
  });
}

double measure_stream(const stream& s, std::size_t bytes, int threads) {
  const std::size_t steps = std::max<std::size_t>(bytes / (s.reads + s.writes), 1);
  std::vector<operands> memory;
  for (int t = 0; t < threads; ++t)
    memory.push_back({buffer<std::byte>(steps * s.reads), buffer<std::byte>(steps * s.writes)});
  return total_rate(threads, [&](int thread, clock_kind clock) {
    operands& mine = memory[static_cast<std::size_t>(thread)];
    const auto pass = [&] { s.run(mine.in.data(), mine.out.data(), steps); };
    return static_cast<double>(steps * (s.reads + s.writes)) / median_seconds(pass, clock);
  });
}

std::optional<double> measure(traffic t, std::size_t bytes, int threads) {
  if (t == traffic::memcpy) return measure_memcpy(bytes, threads);
  const std::optional<stream> s = stream_of(t);
  if (!s) return std::nullopt;
  return measure_stream(*s, bytes, threads);
}

}  // namespace

const char* name(traffic t) noexcept {
  switch (t) {
    case traffic::read:
      return "read";
    case traffic::memcpy:
      return "memcpy";
    case traffic::read4_write1:
      return "r4w1";
    case traffic::read2_write1:
      return "r2w1";
    case traffic::read1_write2:
      return "r1w2";
    case traffic::read1_write4:
      return "r1w4";
    case traffic::read4_write1_nt:
      return "r4w1_nt";
    case traffic::read2_write1_nt:
      return "r2w1_nt";
    case traffic::read1_write2_nt:
      return "r1w2_nt";
    case traffic::read1_write4_nt:
      return "r1w4_nt";
  }
  return "unknown";
}

std::optional<traffic> non_temporal(traffic t) noexcept {
  switch (t) {
    case traffic::read4_write1:
      return traffic::read4_write1_nt;
    case traffic::read2_write1:
      return traffic::read2_write1_nt;
    case traffic::read1_write2:
      return traffic::read1_write2_nt;
    case traffic::read1_write4:
      return traffic::read1_write4_nt;
    default:
      return std::nullopt;
  }
}

bool is_non_temporal(traffic t) noexcept { return t >= traffic::read4_write1_nt; }

std::optional<double> bytes_per_second(traffic t, std::size_t bytes, int threads) {
  static std::map<std::tuple<traffic, std::size_t, int>, std::optional<double>> known;
  const auto [entry, is_new] = known.try_emplace({t, bytes, threads});
  if (is_new) entry->second = measure(t, bytes, threads);
  return entry->second;
}

}  // namespace ofp8::bench
