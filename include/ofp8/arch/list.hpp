// SPDX-License-Identifier: Apache-2.0
// ofp8: the backends of this build. To add an instruction set: write its folder, include its backend.hpp here
// and name it in `backends`. Operations, tests and benchmarks go over this list.
//
// A backend is a struct with
//   id                              its enumerator of `isa`
//   rank(cpu)                       0: that CPU cannot run it; else the larger, the faster on it
//   rows(), codec<E>(), gemm<E>()   its kernel tables (arch/codec_kernels.hpp, arch/gemm_kernels.hpp)
#pragma once

#include <ofp8/arch/scalar/backend.hpp>
#include <ofp8/core/config.hpp>

namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

template <class... Backends>
struct backend_list {
  static constexpr int size = sizeof...(Backends);
};

// The scalar backend is last: it is what every machine has.
using backends = backend_list<scalar_backend>;

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
