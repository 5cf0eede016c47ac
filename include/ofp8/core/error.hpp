// SPDX-License-Identifier: Apache-2.0
// ofp8: the errors a public function throws, and the sentences they carry. Every message names the function,
// the operand and both numbers. Without exceptions (-fno-exceptions) the sentence is printed and the program
// aborts.
//
//   try { gemm_nt(a, b, d); } catch (const ofp8::shape_error& e) { ... }   // gemm_nt: A is 4x256, B is
//   32x128: K differs
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <ofp8/core/config.hpp>

namespace ofp8 {

/// Operands whose shapes, lengths or strides do not fit together.
class shape_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// An argument whose value is not allowed (a scale of zero, an ISA that this machine lacks).
class argument_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

namespace detail {

// Builds a sentence in a fixed buffer. std::to_string and std::string would leave weak symbols compiled with
// the flags of whichever file comes first.
class message {
 public:
  OFP8_INLINE_MEMBER message() noexcept = default;

  OFP8_INLINE_MEMBER message& operator<<(const char* text) noexcept {
    while (*text != '\0') put(*text++);
    return *this;
  }
  OFP8_INLINE_MEMBER message& operator<<(char c) noexcept { return put(c); }
  OFP8_INLINE_MEMBER message& operator<<(std::int64_t number) noexcept {
    const bool negative = number < 0;
    if (negative) put('-');
    const auto bits = static_cast<std::uint64_t>(number);
    return digits(negative ? 0 - bits : bits);
  }
  OFP8_INLINE_MEMBER message& operator<<(std::uint64_t number) noexcept { return digits(number); }
  OFP8_INLINE_MEMBER message& operator<<(int number) noexcept { return *this << std::int64_t{number}; }
  OFP8_INLINE_MEMBER message& operator<<(unsigned number) noexcept { return *this << std::uint64_t{number}; }
  OFP8_INLINE_MEMBER message& operator<<(double number) noexcept {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", number);
    return *this << text;
  }

  OFP8_INLINE_MEMBER const char* text() const noexcept { return text_; }

 private:
  OFP8_INLINE_MEMBER message& put(char c) noexcept {
    if (size_ + 1 < sizeof text_) text_[size_++] = c;
    return *this;
  }
  OFP8_INLINE_MEMBER message& digits(std::uint64_t number) noexcept {
    char reversed[20];
    int count = 0;
    do {
      reversed[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) put(reversed[--count]);
    return *this;
  }

  char text_[320] = {};
  std::size_t size_ = 0;
};

/// Prints as 4x256.
struct extent {
  std::ptrdiff_t rows, cols;
};
OFP8_INLINE message& operator<<(message& m, extent e) noexcept {
  return m << static_cast<std::int64_t>(e.rows) << 'x' << static_cast<std::int64_t>(e.cols);
}

template <class Error>
[[noreturn]] OFP8_INLINE void fail(const message& m) {
#if OFP8_HAS_EXCEPTIONS
  throw Error(m.text());
#else
  std::fprintf(stderr, "ofp8: %s\n", m.text());
  std::abort();
#endif
}

}  // namespace detail
}  // namespace ofp8
