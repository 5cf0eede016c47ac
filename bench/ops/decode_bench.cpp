// SPDX-License-Identifier: Apache-2.0
// decode: FP8 codes to numbers, into each level of memory.
#include <ofp8/ops/decode.hpp>

#include <string>

#include "ceilings/cpu.hpp"
#include "harness/measurement.hpp"
#include "harness/runners.hpp"
#include "harness/samples.hpp"

namespace ofp8::bench {
namespace {

template <class Out>
constexpr traffic decode_traffic = sizeof(Out) == 4 ? traffic::read1_write4 : traffic::read1_write2;

template <class Out>
std::size_t elements_in(memory_level level) {
  return working_set(level) / (sizeof(Out) + 1) / 64 * 64;
}

template <class E, class Out, class Decode>
void measure(benchmark::State& state, memory_level level, int threads, Decode decode_all) {
  const std::size_t n = elements_in<Out>(level) * static_cast<std::size_t>(threads);
  const buffer<E> codes = normal_buffer<E>(n);
  buffer<Out> out(n);
  measurement m(state, threads, [&] { decode_all(codes, out); });
  m.elements(n);
  m.bytes(n * (sizeof(E) + sizeof(Out)), decode_traffic<Out>);
}

template <class E, class Out>
void add(const std::string& types) {
  for (memory_level level : memory_levels)
    register_for_runners(
        "decode/" + types + "/" + name(level), [level](benchmark::State& state, const runner& who) {
          measure<E, Out>(state, level, who.threads,
                          [&](const auto& codes, auto& out) { decode(codes, out, who.how); });
        });
}

// What a user writes without this library's bulk function.
void add_peer() {
  constexpr memory_level level = memory_level::l2;
  register_peer(std::string("decode/e4m3_to_f32/") + name(level), "conversion_loop",
                [](benchmark::State& state, const runner& who) {
                  measure<e4m3, float>(state, level, who.threads, [](const auto& codes, auto& out) {
                    for (std::size_t i = 0; i < codes.size(); ++i) out[i] = static_cast<float>(codes[i]);
                  });
                });
}

const at_start registered([] {
  add<e4m3, float>("e4m3_to_f32");
  add<e4m3, bf16>("e4m3_to_bf16");
  add<e5m2, float>("e5m2_to_f32");
  add_peer();
});

}  // namespace
}  // namespace ofp8::bench
