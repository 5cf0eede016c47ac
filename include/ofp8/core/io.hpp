// SPDX-License-Identifier: Apache-2.0
// ofp8: printing. Streams and std::format (where the library has it) show the number: 0.3125, nan, -inf.
//
//   std::cout << convert<e4m3>(0.3f);        // 0.3125
#pragma once

#include <ostream>
#include <version>
#if defined(__cpp_lib_format)
#include <format>
#endif

#include <ofp8/core/config.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>

namespace ofp8 {

// Streams print doubles, so a subnormal goes there as one: under DAZ the stream would widen the float to 0.
template <class Format>
OFP8_INLINE std::ostream& operator<<(std::ostream& out, float8<Format> x) {
  return out << static_cast<float>(x);
}
template <class Format>
OFP8_INLINE std::ostream& operator<<(std::ostream& out, float16<Format> x) {
  return out << static_cast<double>(x);
}
OFP8_INLINE std::ostream& operator<<(std::ostream& out, e8m0 x) { return out << static_cast<double>(x); }

}  // namespace ofp8

#if defined(__cpp_lib_format)
template <class Format>
struct std::formatter<ofp8::float8<Format>> : std::formatter<float> {
  template <class Context>
  auto format(ofp8::float8<Format> x, Context& context) const {
    return std::formatter<float>::format(static_cast<float>(x), context);
  }
};
template <class Format>
struct std::formatter<ofp8::float16<Format>> : std::formatter<float> {
  template <class Context>
  auto format(ofp8::float16<Format> x, Context& context) const {
    return std::formatter<float>::format(static_cast<float>(x), context);
  }
};
template <>
struct std::formatter<ofp8::e8m0> : std::formatter<float> {
  template <class Context>
  auto format(ofp8::e8m0 x, Context& context) const {
    return std::formatter<float>::format(static_cast<float>(x), context);
  }
};
#endif
