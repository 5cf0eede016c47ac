// SPDX-License-Identifier: Apache-2.0
// dequantize against reference::dequantize, bit for bit.
#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/catch.hpp"
#include "tests/support/random_bits.hpp"

using namespace ofp8;
using ofp8::test::random_source;

namespace {

/// Every code, scales of any size (0, infinity and NaN included).
template <class E, class G>
scaled_matrix<E, G> random_operand(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  random_source random(static_cast<std::uint64_t>(rows * 1000 + cols));
  scaled_matrix<E, G> q(rows, cols);
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (std::ptrdiff_t c = 0; c < cols; ++c) q.codes()(r, c) = E::from_bits(random.below(256));
  for (std::ptrdiff_t i = 0; i < q.scales().rows(); ++i) {
    for (std::ptrdiff_t j = 0; j < q.scales().cols(); ++j) {
      if constexpr (std::is_same_v<typename G::scale_type, float>) {
        const std::uint32_t bits =
            random.below(4) == 0 ? random.bits32() : (random.bits32() & 0x83ff'ffff) | 0x3c00'0000;
        q.scales()(i, j) = __builtin_bit_cast(float, bits);
      } else {
        q.scales()(i, j) =
            G::scale_type::from_bits(random.below(sizeof(typename G::scale_type) == 1 ? 256 : 65536));
      }
    }
  }
  return q;
}

template <class Out>
bool same(const matrix<Out>& a, const matrix<Out>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  const auto bytes = static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(Out);
  return bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0;
}

template <class E, class G>
void compare(std::ptrdiff_t rows, std::ptrdiff_t cols, const execution& where) {
  INFO(rows << "x" << cols);
  const auto q = random_operand<E, G>(rows, cols);
  CHECK(same(dequantize(q, where), reference::dequantize(q)));
  CHECK(same(dequantize<bf16>(q, where), reference::dequantize<bf16>(q)));
  CHECK(same(dequantize<fp16>(q, where), reference::dequantize<fp16>(q)));
}

}  // namespace

TEMPLATE_TEST_CASE("dequantize gives the bits of the reference for every granularity", "[ops][dequantize]",
                   per_tensor, per_token, per_group<16>, (block_wise<4, 8>), mx<32>,
                   (scale_block<1, 16, bf16>), (scale_block<whole, 8, fp16>), (scale_block<whole, 1>)) {
  const std::ptrdiff_t shapes[][2] = {{0, 0}, {0, 5}, {3, 0}, {1, 1}, {2, 1500}, {11, 33}, {9, 64}};
  for (isa i : available_isas()) {
    for (const auto& shape : shapes) {
      compare<e4m3, TestType>(shape[0], shape[1], {.isa = i});
      compare<e5m2, TestType>(shape[0], shape[1], {.isa = i});
      compare<e4m3fnuz, TestType>(shape[0], shape[1], {.isa = i});
      compare<e5m2fnuz, TestType>(shape[0], shape[1], {.isa = i});
    }
  }
}

TEST_CASE("1 to 8 threads dequantize to the same bits", "[ops][dequantize]") {
  for (int threads = 1; threads <= 8; ++threads) {
    thread_pool pool(threads);
    compare<e4m3, block_wise<128, 128>>(300, 700, {.executor = pool});
    compare<e4m3, per_token>(700, 300, {.executor = pool});
  }
}

TEST_CASE("dequantize_into writes to any view and leaves what is beside it", "[ops][dequantize]") {
  const auto q = random_operand<e4m3, per_group<8>>(4, 20);
  const auto wanted = reference::dequantize(q);
  matrix<float> larger(6, 30);
  for (std::ptrdiff_t r = 0; r < 6; ++r)
    for (std::ptrdiff_t c = 0; c < 30; ++c) larger(r, c) = 7.0f;
  dequantize_into(q, matrix_view<float>(&larger(1, 2), 4, 20, 30));
  bool right = true;
  for (std::ptrdiff_t r = 0; r < 6; ++r) {
    for (std::ptrdiff_t c = 0; c < 30; ++c) {
      const bool inside = r >= 1 && r < 5 && c >= 2 && c < 22;
      const float w = inside ? wanted(r - 1, c - 2) : 7.0f;
      right = right && std::memcmp(&larger(r, c), &w, 4) == 0;
    }
  }
  CHECK(right);

  matrix<float> whole_matrix(4, 20);
  dequantize_into(q.view(), whole_matrix);
  CHECK(same(whole_matrix, wanted));
}

TEST_CASE("what was quantized comes back within half a unit in the last place", "[ops][dequantize]") {
  // s = 896 / 448 = 2: codes of 2 * {1, 1.125}; 2.1 lies nearer to 2 * 1.
  matrix<float> x(1, 3);
  x(0, 0) = 896.0f;
  x(0, 1) = 2.1f;
  x(0, 2) = -2.25f;
  const auto q = quantize<e4m3, per_token>(x);
  const matrix<float> back = dequantize(q);
  CHECK(back(0, 0) == 896.0f);
  CHECK(back(0, 1) == 2.0f);
  CHECK(back(0, 2) == -2.25f);
}

TEST_CASE("dequantize refuses shapes that differ", "[ops][dequantize][errors]") {
  const auto q = random_operand<e4m3, per_token>(4, 20);
  matrix<bf16> out(4, 21);
  std::string text;
  try {
    dequantize_into(q, out);
  } catch (const shape_error& e) {
    text = e.what();
  }
  CHECK(text == "dequantize_into: q is 4x20, out is 4x21: shapes differ");
#if defined(__x86_64__)
  CHECK_THROWS_AS(dequantize(q, {.isa = isa::neon}), argument_error);
#endif
}
