// SPDX-License-Identifier: Apache-2.0
// Random operands for GEMM tests, outputs with guard cells, and the comparison of every way to run gemm_nt with
// the reference, bit by bit.
#pragma once

#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/gemm.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_bits.hpp"
#include "tests/support/samples.hpp"

namespace ofp8::test {

/// `special` mixes in NaN, infinities, zeros, subnormals, negative scales, huge numbers.
enum class content { ordinary, special };

inline float random_float(random_source& random, int lowest, int highest) {
  const std::uint32_t exponent = static_cast<std::uint32_t>(127 + lowest) +
                                 random.below(static_cast<std::uint32_t>(highest - lowest + 1));
  return float_of((random.bits32() & 0x807f'ffff) | (exponent << 23));
}

template <class E>
E random_code(random_source& random, content what) {
  if (what == content::special && random.below(300) == 0) {
    const unsigned sign = random.below(2) * 0x80u;
    return E::from_bits(random.below(2) == 0
                            ? E::spec.canonical_nan()
                            : sign | (E::spec.largest_code() + (E::spec.has_infinity() ? 1u : 0u)));
  }
  for (;;) {
    const E code = E::from_bits(random.below(256));
    if (isfinite(code)) return code;
  }
}

template <class T>
T random_number(random_source& random, content what) {
  float x = random_float(random, -6, 3);
  if (what == content::special) {
    switch (random.below(250)) {
      case 0:
        x = float_of(0x7fc0'0000);
        break;
      case 1:
        x = float_of(0x7f80'0000);
        break;
      case 2:
        x = random_float(random, 90, 127);
        break;
      case 3:
        x = random_float(random, -126, -90);
        break;
      case 4:
        x = float_of(random.bits32() & 0x807f'ffff);
        break;  // subnormal
      case 5:
        x = -0.0f;
        break;
      default:
        break;
    }
  }
  return convert<T>(x);
}

template <class S>
S random_scale(random_source& random, content what) {
  if constexpr (std::is_same_v<S, e8m0>) {
    if (what == content::special && random.below(20) == 0) return e8m0::from_bits(random.below(2) * 0xffu);
    return e8m0::from_bits(120 + random.below(14));
  } else {
    float s = float_of(bits_of_float(random_float(random, -5, 4)) & 0x7fff'ffff);
    if (what == content::special) {
      switch (random.below(60)) {
        case 0:
          s = 0.0f;
          break;
        case 1:
          s = -0.0f;
          break;
        case 2:
          s = -s;
          break;
        case 3:
          s = float_of(0x7f80'0000);
          break;
        case 4:
          s = float_of(0xffc0'1234);
          break;
        case 5:
          s = float_of(0x0000'0123);
          break;
        case 6:
          s = random_float(random, 100, 127);
          break;
        default:
          break;
      }
    }
    return convert<S>(s);
  }
}

template <class E, class G>
scaled_matrix<E, G> random_scaled(std::ptrdiff_t rows, std::ptrdiff_t cols, random_source& random,
                                  content what) {
  scaled_matrix<E, G> x(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < cols; ++c) x.codes()(r, c) = random_code<E>(random, what);
  for (std::ptrdiff_t i = 0; i < x.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < x.scales().cols(); ++j)
      x.scales()(i, j) = random_scale<typename G::scale_type>(random, what);
  return x;
}

template <class T>
matrix<T> random_matrix(std::ptrdiff_t rows, std::ptrdiff_t cols, random_source& random, content what) {
  matrix<T> x(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < cols; ++c) x(r, c) = random_number<T>(random, what);
  return x;
}

inline std::vector<float> random_bias(std::ptrdiff_t n, random_source& random, content what) {
  std::vector<float> bias;
  for (std::ptrdiff_t i = 0; i < n; ++i) bias.push_back(random_number<float>(random, what));
  return bias;
}

/// m x n elements with `pad` guard cells behind each row and one guard row on either side.
template <class T>
class guarded_matrix {
 public:
  guarded_matrix(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t pad)
      : m_(m), n_(n), ld_(n + pad), bytes_(static_cast<std::size_t>((m + 2) * ld_) * sizeof(T), filler) {}

  matrix_view<T> view() { return {reinterpret_cast<T*>(bytes_.data()) + ld_, m_, n_, ld_}; }
  T* row(std::ptrdiff_t r) { return view().row(r); }
  std::size_t row_bytes() const { return static_cast<std::size_t>(n_) * sizeof(T); }

  bool intact() const {
    const auto ld = static_cast<std::size_t>(ld_) * sizeof(T);
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const auto row = static_cast<std::ptrdiff_t>(i / (ld == 0 ? 1 : ld));
      const bool guard = row == 0 || row == m_ + 1 || i % ld >= row_bytes();
      if (guard && bytes_[i] != filler) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned char filler = 0xa5;
  std::ptrdiff_t m_, n_, ld_;
  std::vector<unsigned char> bytes_;
};

/// D of float, bf16 or fp16, as gemm_nt takes it.
template <class T>
struct plain_output {
  using element = T;
  using addend = T;
  guarded_matrix<T> cells;
  plain_output(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t pad) : cells(m, n, pad) {}
  matrix_view<T> operand() { return cells.view(); }
};

/// D of FP8 codes with a static scale.
template <class E>
struct fp8_output {
  using element = E;
  using addend = float;
  static inline float scale = 0.37f;
  guarded_matrix<E> cells;
  fp8_output(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t pad) : cells(m, n, pad) {}
  scaled_view<E, per_tensor> operand() { return {cells.view(), scale_grid<float>(&scale, 1, 1)}; }
};

/// Empty, or where the first difference is.
template <class Out>
std::string difference(Out& got, Out& wanted) {
  const auto view = wanted.cells.view();
  for (std::ptrdiff_t r = 0; r < view.rows(); ++r) {
    if (std::memcmp(got.cells.row(r), wanted.cells.row(r), got.cells.row_bytes()) == 0) continue;
    for (std::ptrdiff_t c = 0; c < view.cols(); ++c)
      if (std::memcmp(got.cells.row(r) + c, wanted.cells.row(r) + c, sizeof(typename Out::element)) != 0)
        return "D(" + std::to_string(r) + ", " + std::to_string(c) + ") differs";
  }
  return got.cells.intact() ? "" : "a guard cell was written";
}

/// Runs tasks from the last to the first; claims to run five at once.
struct backwards {
  std::size_t concurrency() const { return 5; }
  template <class F>
  void parallel_for(std::size_t n, F&& f) {
    while (n > 0) f(--n);
  }
};

/// A pool of 1 .. 8 threads, made when it is first asked for.
inline thread_pool& pool_of(std::size_t threads) {
  static std::vector<std::unique_ptr<thread_pool>> pools(9);
  if (!pools[threads]) pools[threads] = std::make_unique<thread_pool>(static_cast<std::ptrdiff_t>(threads));
  return *pools[threads];
}

/// Runs gemm_nt packed and not, on every ISA, serially, backwards and on a pool, with leading dimensions beyond
/// the columns: empty when all agree with the reference to the bit.
template <class Out, class A, class B>
std::string compare_with_reference(const A& a, const B& b, const gemm_options<typename Out::addend>& options,
                                   std::size_t threads) {
  const std::ptrdiff_t m = a.rows(), n = b.rows();
  Out wanted(m, n, 0);
  reference::gemm_nt(a, b, wanted.operand(), options);
  const auto packed = pack(b);
  backwards reversed;
  for (const isa i : available_isas()) {
    const execution runs[] = {
        {.isa = i}, {.executor = reversed, .isa = i}, {.executor = pool_of(threads), .isa = i}};
    for (const execution& where : runs) {
      Out from_rows(m, n, 3), from_packed(m, n, 5);
      gemm_nt(a, b, from_rows.operand(), options, where);
      gemm_nt(a, packed, from_packed.operand(), options, where);
      const std::string run = std::string(name(i)) + ", run " + std::to_string(&where - runs) + ": ";
      if (const auto d = difference(from_rows, wanted); !d.empty()) return run + "rows: " + d;
      if (const auto d = difference(from_packed, wanted); !d.empty()) return run + "packed: " + d;
    }
  }
  return "";
}

struct shape {
  std::ptrdiff_t m, n, k;
};
inline std::string text(const shape& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}
/// Sizes around 1, the panel (32), rows at once and the decoded piece (128), and anything between.
inline shape random_shape(random_source& random) {
  const auto pick = [&](std::initializer_list<std::ptrdiff_t> edges, std::uint32_t most) {
    if (random.below(2) == 0) return static_cast<std::ptrdiff_t>(1 + random.below(most));
    return edges.begin()[random.below(static_cast<std::uint32_t>(edges.size()))];
  };
  return {pick({1, 2, 3, 8, 13, 65}, 20), pick({1, 31, 32, 33, 64, 65}, 100),
          pick({1, 2, 127, 128, 129, 256}, 200)};
}

}  // namespace ofp8::test
