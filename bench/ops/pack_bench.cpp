// SPDX-License-Identifier: Apache-2.0
// pack_into: the weights of one linear layer to the layout of the kernels, against copying them.
#include <ofp8/ops/pack.hpp>

#include <string>

#include "harness/measurement.hpp"
#include "harness/runners.hpp"
#include "harness/samples.hpp"

namespace ofp8::bench {
namespace {

void pack_layer(benchmark::State& state, const runner& who, std::ptrdiff_t size) {
  scaled_matrix<e4m3, per_channel> w(size, size);
  fill_normal(w.codes().data(), static_cast<std::size_t>(size * size));
  buffer<std::byte> memory(static_cast<std::size_t>(packed_bytes(size, size)));
  measurement m(state, who.threads, [&] { pack_into(w, memory, who.how); });
  m.bytes(2 * static_cast<std::size_t>(size * size), traffic::memcpy);
}

const at_start registered([] {
  for (std::ptrdiff_t size : {512, 4096})
    register_for_runners(
        "pack/e4m3/" + std::to_string(size) + "x" + std::to_string(size),
        [size](benchmark::State& state, const runner& who) { pack_layer(state, who, size); });
});

}  // namespace
}  // namespace ofp8::bench
