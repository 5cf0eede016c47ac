// SPDX-License-Identifier: Apache-2.0
// Random bits that are the same on every machine (std::distributions are not). SplitMix64, Steele et al. 2014.
#pragma once

#include <cstdint>

namespace ofp8::test {

class random_source {
 public:
  explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t bits64() {
    std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }
  constexpr std::uint32_t bits32() { return static_cast<std::uint32_t>(bits64() >> 32); }
  /// 0 .. bound - 1.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((std::uint64_t{bits32()} * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace ofp8::test
