// SPDX-License-Identifier: Apache-2.0
// The headers compile after windows.h, which defines min and max as macros. The standard's own headers come
// first: they do not survive it. Report: intel/llvm PR 22568.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <ostream>
#include <ranges>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

#include "tests/catch.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))

#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/fp_environment.hpp>
#include <ofp8/core/io.hpp>
#if __has_include(<ofp8/ofp8.hpp>)
#include <ofp8/ofp8.hpp>
#endif

TEST_CASE("the min and max macros of windows.h break no header", "[limits]") {
  CHECK(float((std::numeric_limits<ofp8::e4m3>::max)()) == 448.0f);
  CHECK(float((std::numeric_limits<ofp8::e5m2>::min)()) == 0x1p-14f);
  CHECK(ofp8::convert<ofp8::e4m3>(1e9f).bits() == 0x7e);
}
