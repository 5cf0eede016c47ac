// SPDX-License-Identifier: Apache-2.0
// quantize and quantize_into against reference::quantize, byte for byte: granularities, recipes, input types,
// ragged blocks, leading dimensions, threads, instruction sets; then counts, static scales, errors.
#include <ofp8/exec/thread_pool.hpp>
#include <ofp8/ofp8.hpp>
#include <ofp8/reference/quantize.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/fp_environments.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

constexpr recipe strange{.amax = amax_rule::propagate_nan,
                         .amax_floor = 0.01f,
                         .amax_ceiling = 100.0f,
                         .rule = scale_rule::inverse_torch,
                         .arithmetic = arithmetic::scale_in_input_type,
                         .power = power_rule::nearest_up,
                         .apply = apply_rule::multiply_inverse,
                         .conversion = {.rounding = rounding_mode::toward_zero,
                                        .on_infinity = overflow_rule::nonfinite,
                                        .nan_sign = nan_sign::keep}};
constexpr recipe zero_scale{
    .on_zero = zero_rule::as_computed, .scale_floor = 0.0f, .conversion = {.nan_sign = nan_sign::keep}};
const std::vector<recipe>& some_recipes() {
  static const std::vector<recipe> list{recipes::standard,
                                        recipes::vllm_token_cuda,
                                        recipes::vllm_tensor_static,
                                        recipes::deepseek_v3,
                                        recipes::llm_compressor,
                                        recipes::ocp_mx,
                                        strange,
                                        zero_scale};
  return list;
}

template <class T>
T number(random_source& random, int kind) {
  // kind 0: ordinary; 1: wide range; 2: anything, NaN and infinity too; 3: zeros of both signs.
  std::uint32_t b = random.bits32();
  if (kind == 2 && random.below(8) == 0) b = (b & 0x807f'0000) * random.below(2) + 0x7f80'0000;
  if (kind == 0) b = (b & 0x83ff'ffff) | 0x3c00'0000;
  if (kind == 1) b = (b & 0x8fff'ffff) | 0x3000'0000;
  if (kind == 3) b &= 0x8000'0000;
  if constexpr (std::is_same_v<T, float>)
    return float_of(b);
  else if constexpr (std::is_same_v<T, bf16>)
    return bf16::from_bits(b >> 16);
  else if (kind == 2)
    return fp16::from_bits(b >> 16);
  else
    return convert<fp16>(float_of(b));
}

/// A matrix inside a larger one, so that the leading dimension exceeds the columns.
template <class T>
struct embedded {
  embedded(std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t extra) : storage(rows, cols + extra) {
    view = matrix_view<T>(storage.data(), rows, cols, cols + extra);
  }
  matrix<T> storage;
  matrix_view<T> view;
};

template <class T>
void fill(matrix_view<T> x, random_source& random) {
  for (std::ptrdiff_t r = 0; r < x.rows(); ++r) {
    const int kind = static_cast<int>(random.below(6)) % 4;  // ordinary rows more often
    for (std::ptrdiff_t c = 0; c < x.cols(); ++c) x(r, c) = number<T>(random, kind);
  }
}

template <class T>
bool same_bytes(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class A, class B>
std::string difference(const A& got, const B& wanted) {
  for (std::ptrdiff_t i = 0; i < wanted.scales().rows(); ++i)
    for (std::ptrdiff_t j = 0; j < wanted.scales().cols(); ++j)
      if (!same_bytes(got.scales()(i, j), wanted.scales()(i, j)))
        return "scale (" + std::to_string(i) + ", " + std::to_string(j) +
               "): " + std::to_string(float(got.scales()(i, j))) + ", wanted " +
               std::to_string(float(wanted.scales()(i, j)));
  for (std::ptrdiff_t r = 0; r < wanted.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < wanted.cols(); ++c)
      if (!same_bytes(got.codes()(r, c), wanted.codes()(r, c)))
        return "code (" + std::to_string(r) + ", " + std::to_string(c) +
               "): " + std::to_string(got.codes()(r, c).bits()) + ", wanted " +
               std::to_string(wanted.codes()(r, c).bits());
  return "";
}

template <class E, class G, class T>
void compare(matrix_view<const T> x, const recipe& r, const execution& where) {
  quantize_counts wanted_counts{.saturated = 100, .flushed = 10, .nan = 1};
  quantize_counts counts = wanted_counts;
  const auto wanted = reference::quantize<E, G>(x, r, &wanted_counts);
  CHECK(difference(quantize<E, G>(x, r, where), wanted) == "");

  // The same into a caller's memory with a leading dimension of its own; the bytes beside it stay.
  embedded<E> codes(x.rows(), x.cols(), 3);
  for (std::ptrdiff_t row = 0; row < x.rows(); ++row)
    for (std::ptrdiff_t c = 0; c < codes.storage.cols(); ++c) codes.storage(row, c) = E::from_bits(0xa5);
  matrix<typename G::scale_type> scales(G::scale_cols(x.cols()),
                                        G::scale_rows(x.rows()) + 1);  // column-major
  const scale_grid<typename G::scale_type> grid(scales.data(), scales.cols() - 1, scales.rows(), 1,
                                                scales.cols());
  const scaled_view<E, G> out{codes.view, grid};
  quantize_into(x, out, counts, r, where);
  CHECK(difference(out, wanted) == "");
  CHECK(counts == wanted_counts);
  bool intact = true;
  for (std::ptrdiff_t row = 0; row < x.rows(); ++row)
    for (std::ptrdiff_t c = x.cols(); c < codes.storage.cols(); ++c)
      intact = intact && codes.storage(row, c).bits() == 0xa5;
  CHECK(intact);
}

template <class E, class G, class T>
void compare_recipes(std::ptrdiff_t rows, std::ptrdiff_t cols, std::uint64_t seed, const execution& where) {
  random_source random(seed);
  embedded<T> x(rows, cols, 5);
  fill(x.view, random);
  for (std::size_t k = 0; k < some_recipes().size(); ++k) {
    INFO("recipe " << k << ", " << rows << "x" << cols);
    compare<E, G, T>(x.view, some_recipes()[k], where);
  }
}

template <class G>
void compare_all(std::ptrdiff_t rows, std::ptrdiff_t cols, std::uint64_t seed) {
  for (isa i : available_isas()) {
    INFO(name(i));
    compare_recipes<e4m3, G, float>(rows, cols, seed, {.isa = i});
    compare_recipes<e4m3, G, bf16>(rows, cols, seed + 1, {.isa = i});
    compare_recipes<e5m2, G, fp16>(rows, cols, seed + 2, {.isa = i});
  }
}

}  // namespace

TEMPLATE_TEST_CASE("quantize gives the bytes of the reference for every granularity, ragged or not",
                   "[ops][quantize]", per_tensor, per_token, per_group<16>, (block_wise<4, 8>), mx<32>,
                   (scale_block<1, 16, bf16>), (scale_block<whole, 8, fp16>), (scale_block<3, whole>),
                   (scale_block<whole, 1>)) {
  random_source random(41);
  const std::ptrdiff_t shapes[][2] = {{0, 0}, {0, 5}, {3, 0}, {1, 1}, {1, 300}, {5, 33}, {9, 64}};
  for (const auto& shape : shapes) compare_all<TestType>(shape[0], shape[1], random.bits64());
  for (int k = 0; k < 4; ++k)
    compare_all<TestType>(1 + static_cast<std::ptrdiff_t>(random.below(20)),
                          1 + static_cast<std::ptrdiff_t>(random.below(90)), random.bits64());
}

TEST_CASE("more groups than a window holds", "[ops][quantize]") {
  compare_all<per_group<2>>(2, 1100, 77);          // 550 groups a row
  compare_all<scale_block<whole, 1>>(3, 700, 78);  // 700 columns
  compare_all<per_token>(2, 3000, 79);             // more than a chunk
}

TEST_CASE("the FNUZ formats and the real block sizes", "[ops][quantize]") {
  compare_recipes<e4m3fnuz, per_token, float>(9, 300, 4, {});
  compare_recipes<e5m2fnuz, per_group<128>, float>(3, 300, 5, {});
  compare_recipes<e4m3, block_wise<128, 128>, bf16>(200, 300, 6, {});
  compare_recipes<e4m3, scale_block<128, 128, bf16>, bf16>(130, 129, 7, {});
}

TEMPLATE_TEST_CASE("1 to 8 threads: the same bytes and counts", "[ops][quantize]", per_tensor, per_token,
                   per_group<128>, (block_wise<128, 128>), (scale_block<whole, 64>),
                   (scale_block<whole, 1>)) {
  random_source random(99);
  embedded<float> x(500, 700, 1);
  fill(x.view, random);
  quantize_counts wanted_counts;
  const auto wanted = reference::quantize<e4m3, TestType>(x.view, recipes::standard, &wanted_counts);
  CHECK(wanted_counts.nan > 0);
  CHECK(wanted_counts.saturated > 0);
  CHECK(wanted_counts.flushed > 0);
  for (int threads = 1; threads <= 8; ++threads) {
    INFO(threads << " threads");
    thread_pool pool(threads);
    scaled_matrix<e4m3, TestType> out(500, 700);
    quantize_counts counts;
    quantize_into(x.view, out, counts, {}, {.executor = pool});
    CHECK(difference(out, wanted) == "");
    CHECK(counts == wanted_counts);
    CHECK(difference(quantize<e4m3, TestType>(x.view, static_scale(0.5f), {}, {.executor = pool}),
                     reference::quantize<e4m3, TestType>(x.view, static_scale(0.5f))) == "");
  }
}

namespace {
/// Many tasks at once on no thread at all, in falling order.
struct backward_executor {
  int concurrency() const { return 1000; }
  template <class F>
  void parallel_for(std::size_t n, F&& f) {
    largest = n > largest ? n : largest;
    for (std::size_t i = n; i-- > 0;) f(i);
  }
  std::size_t largest = 0;
};
}  // namespace

TEST_CASE("an executor that claims a thousand threads gets no more tasks than there are slots",
          "[ops][quantize]") {
  matrix<float> x(40000, 64);
  random_source random(8);
  fill(x.view(), random);
  backward_executor backward;
  CHECK(difference(quantize<e4m3, per_token>(x, {}, {.executor = backward}), quantize<e4m3, per_token>(x)) ==
        "");
  CHECK(difference(quantize<e4m3, per_tensor>(x, {}, {.executor = backward}),
                   quantize<e4m3, per_tensor>(x)) == "");
  CHECK(backward.largest > 1);
  CHECK(backward.largest <= 256);
}

TEMPLATE_TEST_CASE("static scales: one number or a grid, divided by or multiplied with", "[ops][quantize]",
                   float, bf16, fp16) {
  random_source random(61);
  embedded<TestType> x(7, 70, 2);
  fill(x.view, random);
  matrix<float> grid(2, 5);
  for (std::ptrdiff_t i = 0; i < 2; ++i)
    for (std::ptrdiff_t j = 0; j < 5; ++j) grid(i, j) = 0.01f * static_cast<float>(1 + 3 * i + j);
  using granularity = block_wise<4, 16>;
  for (const recipe& r : some_recipes()) {
    quantize_counts counts, wanted_counts;
    scaled_matrix<e4m3, granularity> out(7, 70);
    const auto wanted =
        reference::quantize<e4m3, granularity>(x.view, static_scale(grid.view()), r, &wanted_counts);
    quantize_into(x.view, out, static_scale(grid.view()), counts, r);
    CHECK(difference(out, wanted) == "");
    CHECK(counts == wanted_counts);
    quantize_into(x.view, out, static_scale(grid.view()), r);
    CHECK(difference(out, wanted) == "");
    CHECK(difference(quantize<e4m3, granularity>(x.view, static_scale(grid.view()), r), wanted) == "");
    CHECK(difference(quantize<e5m2, per_tensor>(x.view, static_scale(0.37f), r),
                     reference::quantize<e5m2, per_tensor>(x.view, static_scale(0.37f), r)) == "");
    CHECK(difference(quantize<e4m3, mx<32>>(x.view, static_scale(0x1p-127f), r),
                     reference::quantize<e4m3, mx<32>>(x.view, static_scale(0x1p-127f), r)) == "");
  }
}

TEST_CASE("the calls of the first page: overloads pick what was meant", "[ops][quantize]") {
  matrix<float> a(2, 8);
  for (std::ptrdiff_t c = 0; c < 8; ++c) a(0, c) = static_cast<float>(c);
  thread_pool pool(2);
  quantize_counts n;
  CHECK(quantize<e4m3, per_tensor>(a, static_scale(0.25f)).scale_at(0, 0) == 0.25f);
  CHECK(quantize<e4m3, per_tensor>(a, {.power = power_rule::up}).scale_at(0, 0) == 0x1p-6f);
  CHECK(quantize<e4m3, per_tensor>(a, {}, {.executor = pool}).scale_at(0, 0) == 7.0f / 448.0f);
  matrix<e4m3> codes(2, 8);
  matrix<float> scales(1, 1);
  const scaled_view<e4m3, per_tensor> q{codes.view(), scales.view()};
  quantize_into(a, q);
  quantize_into(a, q, n);
  quantize_into(a, q, n, {}, {.isa = isa::scalar});
  quantize_into(a, q, {}, {.isa = isa::scalar});
  quantize_into(a, scaled_view<e4m3, per_tensor>{codes.view(), scales.view()}, static_scale(1.0f), n);
  CHECK(scales(0, 0) == 1.0f);
  CHECK(codes(0, 7).bits() == 0x4e);
}

TEST_CASE("quantize does not depend on the caller's floating-point environment", "[ops][quantize]") {
  random_source random(55);
  embedded<float> x(6, 100, 0);
  fill(x.view, random);
  const auto wanted = reference::quantize<e4m3, per_group<32>>(x.view);
  const auto wanted_tensor = reference::quantize<e5m2, per_tensor>(x.view, strange);
  const auto wanted_values = reference::dequantize(wanted);
  embedded<float> large(300, 256, 0);  // cut by rows: the scale is computed outside of the tasks
  fill(large.view, random);
  const recipe division{.amax_ceiling = 0.7f};  // 0.7 / 448 is no float: every rounding mode shows
  const auto wanted_large = reference::quantize<e4m3, per_tensor>(large.view, division);
  thread_pool pool(2);
  std::string report;
  for_each_fp_environment([&] {
    const auto q = quantize<e4m3, per_group<32>>(x.view, {}, {.executor = pool});
    report += difference(q, wanted) + difference(quantize<e5m2, per_tensor>(x.view, strange), wanted_tensor);
    report += difference(quantize<e4m3, per_tensor>(large.view, division, {.executor = pool}), wanted_large);
    const auto values = dequantize(q);
    for (std::ptrdiff_t r = 0; r < 6; ++r)
      for (std::ptrdiff_t c = 0; c < 100; ++c)
        if (!same_bytes(values(r, c), wanted_values(r, c))) report += "value ";
  });
  CHECK(report == "");
}

namespace {
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing thrown";
}
}  // namespace

TEST_CASE("quantize refuses shapes that differ", "[ops][quantize][errors]") {
  matrix<float> x(3, 256);
  scaled_matrix<e4m3, per_token> out(3, 128);
  CHECK(message_of([&] { quantize_into(x, out); }) ==
        "quantize_into: x is 3x256, out is 3x128: shapes differ");
  CHECK_THROWS_AS(quantize_into(x, out), shape_error);
}

TEST_CASE("quantize refuses static scales that do not fit", "[ops][quantize][errors]") {
  matrix<float> x(3, 256), grid(3, 2), one(1, 1);
  CHECK(message_of([&] { (void)quantize<e4m3, per_token>(x, static_scale(grid.view())); }) ==
        "quantize: static scales are 3x2: this granularity needs 3x1 scales");
  scaled_matrix<e4m3, per_tensor> out(3, 256);
  one(0, 0) = -0.5f;
  CHECK(message_of([&] { quantize_into(x, out, static_scale(one.view())); }) ==
        "quantize_into: scale -0.5 is not finite and positive");
  one(0, 0) = float_of(0x7fc0'0000);
  CHECK_THROWS_AS(quantize_into(x, out, static_scale(one.view())), argument_error);
  CHECK(message_of([&] { (void)quantize<e4m3, mx<32>>(x, static_scale(0.3f)); }) ==
        "quantize: scale 0.300000012 cannot be stored in the scale's type without rounding");
}

TEST_CASE("quantize refuses conversions that the kernels do not know", "[ops][quantize][errors]") {
  matrix<float> x(3, 8);
  CHECK(message_of([&] {
          (void)quantize<e4m3, per_tensor>(x, recipe{.conversion = {.rounding = rounding_mode::stochastic}});
        }) == "quantize: the recipe's conversion rounds stochastically: the kernels take no random bits");
  CHECK(message_of([&] {
          (void)quantize<e4m3, per_tensor>(x, recipe{.conversion = {.nan_code = nan_code::code_7d}});
        }) == "quantize: the recipe's conversion has NaN code 125: e4m3 has no such NaN");
  CHECK(message_of([&] {
          (void)quantize<e5m2, per_tensor>(x, recipe{.conversion = {.nan_code = nan_code::code_7d}});
        }) == "nothing thrown");
#if defined(__x86_64__)
  CHECK(message_of([&] {
          (void)quantize<e4m3, per_tensor>(x, {}, {.isa = isa::neon});
        }).find("quantize: isa neon is not available on this machine (available: ") == 0);
#endif
}

namespace {
template <class X, class Out>
concept quantizes = requires(const X& x, Out&& out) {
  quantize_into(x, static_cast<Out&&>(out));
};
}  // namespace

TEST_CASE("what cannot be quantized or written to does not compile", "[ops][quantize]") {
  STATIC_REQUIRE(quantizes<matrix<float>, scaled_matrix<e4m3, per_token>&>);
  STATIC_REQUIRE(quantizes<matrix_view<const bf16>, scaled_view<e4m3, per_token>>);
  STATIC_REQUIRE_FALSE(quantizes<matrix<float>, scaled_matrix<e4m3, per_token>>);      // a temporary
  STATIC_REQUIRE_FALSE(quantizes<matrix<float>, scaled_view<const e4m3, per_token>>);  // read-only
  STATIC_REQUIRE_FALSE(quantizes<matrix<float>, const scaled_matrix<e4m3, per_token>&>);
  STATIC_REQUIRE_FALSE(quantizes<matrix<e4m3>, scaled_matrix<e4m3, per_token>&>);
}
