// SPDX-License-Identifier: Apache-2.0
// ofp8: the names of the instruction sets a loop can run on. The choice changes the speed, never a bit of a
// result.
//
//   gemm_nt(a, w, d, {}, {.isa = isa::scalar});
//   std::printf("%s\n", name(isa::avx512_bf16));
#pragma once

#include <cstdint>

#include <ofp8/core/config.hpp>

namespace ofp8 {

/// An instruction set. `automatic` is the front of `available_isas()`.
enum class isa : std::uint8_t { automatic, scalar, avx2, avx512, avx512_bf16, neon };

/// The enumerator as text; "unknown" for a value that is none of them.
[[nodiscard]] OFP8_INLINE constexpr const char* name(isa i) noexcept {
  switch (i) {
    case isa::automatic:
      return "automatic";
    case isa::scalar:
      return "scalar";
    case isa::avx2:
      return "avx2";
    case isa::avx512:
      return "avx512";
    case isa::avx512_bf16:
      return "avx512_bf16";
    case isa::neon:
      return "neon";
  }
  return "unknown";
}

}  // namespace ofp8
