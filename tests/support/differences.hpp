// SPDX-License-Identifier: Apache-2.0
// Counts the differences of a sweep, keeps the first: CHECK(d.report() == "") says what went wrong at once
// and costs nothing for the millions that are right.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace ofp8::test {

class differences {
 public:
  /// `input` is printed in hexadecimal, with `where` before it.
  void check(std::uint64_t got, std::uint64_t wanted, std::uint64_t input, const char* where = "") {
    ++checked_;
    if (got == wanted) return;
    if (count_++ == 0) {
      char text[200];
      std::snprintf(text, sizeof text, "%s input %llx: got %llx, wanted %llx", where, ull(input), ull(got),
                    ull(wanted));
      first_ = text;
    }
  }

  std::uint64_t checked() const { return checked_; }
  /// Empty when all were equal.
  std::string report() const {
    return count_ == 0
               ? ""
               : std::to_string(count_) + " of " + std::to_string(checked_) + " differ, first:" + first_;
  }

 private:
  static unsigned long long ull(std::uint64_t x) { return x; }

  std::uint64_t checked_ = 0, count_ = 0;
  std::string first_;
};

}  // namespace ofp8::test
