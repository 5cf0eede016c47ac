// SPDX-License-Identifier: Apache-2.0
// main() of every test program. Tests iterate over available_isas(), so its first line of output says which
// backends this run exercised.
#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"

#include <cstdio>
#include <utility>

#if __has_include(<ofp8/arch/dispatch.hpp>)
#include <ofp8/arch/dispatch.hpp>

namespace {

constexpr std::pair<ofp8::isa, const char*> names[] = {{ofp8::isa::scalar, "scalar"},
                                                       {ofp8::isa::avx2, "avx2"},
                                                       {ofp8::isa::avx512, "avx512"},
                                                       {ofp8::isa::avx512_bf16, "avx512_bf16"},
                                                       {ofp8::isa::neon, "neon"}};

void print_backends() {
  std::printf("ofp8 backends:");
  for (const ofp8::isa i : ofp8::available_isas()) {
    for (const auto& [value, name] : names) {
      if (value == i) std::printf(" %s", name);
    }
  }
  std::printf("\n");
}

}  // namespace
#else
namespace {
void print_backends() {}
}  // namespace
#endif

int main(int argc, char* argv[]) {
  print_backends();
  return Catch::Session().run(argc, argv);
}
