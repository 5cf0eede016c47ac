// SPDX-License-Identifier: Apache-2.0
// encode: numbers to FP8 codes, from each level of memory.
#include <ofp8/ops/encode.hpp>

#include <string>

#include "ceilings/cpu.hpp"
#include "harness/measurement.hpp"
#include "harness/runners.hpp"
#include "harness/samples.hpp"

namespace ofp8::bench {
namespace {

template <class In>
constexpr traffic encode_traffic = sizeof(In) == 4 ? traffic::read4_write1 : traffic::read2_write1;

template <class In>
std::size_t elements_in(memory_level level) {
  return working_set(level) / (sizeof(In) + 1) / 64 * 64;
}

template <class E, class In, class Encode>
void measure(benchmark::State& state, memory_level level, int threads, Encode encode_all) {
  const std::size_t n = elements_in<In>(level) * static_cast<std::size_t>(threads);
  const buffer<In> in = normal_buffer<In>(n);
  buffer<E> codes(n);
  measurement m(state, threads, [&] { encode_all(in, codes); });
  m.elements(n);
  m.bytes(n * (sizeof(In) + sizeof(E)), encode_traffic<In>);
}

template <class E, class In>
void add(const std::string& types) {
  for (memory_level level : memory_levels)
    register_for_runners("encode/" + types + "/" + name(level),
                         [level](benchmark::State& state, const runner& who) {
                           measure<E, In>(state, level, who.threads,
                                          [&](const auto& in, auto& codes) { encode(in, codes, who.how); });
                         });
}

// What a user writes without this library's bulk function.
void add_peer() {
  constexpr memory_level level = memory_level::l2;
  register_peer(std::string("encode/e4m3_from_f32/") + name(level), "convert_loop",
                [](benchmark::State& state, const runner& who) {
                  measure<e4m3, float>(state, level, who.threads, [](const auto& in, auto& codes) {
                    for (std::size_t i = 0; i < in.size(); ++i) codes[i] = convert<e4m3>(in[i]);
                  });
                });
}

const at_start registered([] {
  add<e4m3, float>("e4m3_from_f32");
  add<e4m3, bf16>("e4m3_from_bf16");
  add<e5m2, float>("e5m2_from_f32");
  add_peer();
});

}  // namespace
}  // namespace ofp8::bench
