// SPDX-License-Identifier: Apache-2.0
// gemm_nt against reference::gemm_nt, bit by bit: every pair of granularities, every format, every output, on
// every ISA, with any number of threads, packed and not.
#include <tuple>

#include "tests/catch.hpp"
#include "tests/ops/gemm_cases.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

using activation_granularities =
    std::tuple<per_tensor, per_token, per_group<64>, per_group<5>, mx<32>, block_wise<3, 48>>;
using weight_granularities = std::tuple<per_tensor, per_channel, block_wise<128, 128>, block_wise<24, 40>,
                                        mx<32>, scale_block<1, 32, bf16>, scale_block<8, whole, fp16>>;
using formats = std::tuple<e4m3, e5m2, e4m3fnuz, e5m2fnuz>;

template <class List, class F>
void for_each_type(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(std::type_identity<std::tuple_element_t<I, List>>{}), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<List>>{});
}

/// With neither bias nor addend, with one of them, with both: case 0 to 3.
template <class Out, class A, class B>
std::string check(const A& a, const B& b, unsigned terms, random_source& random, content what) {
  const std::vector<float> bias = random_bias(b.rows(), random, what);
  const auto c = random_matrix<typename Out::addend>(a.rows(), b.rows(), random, what);
  gemm_options<typename Out::addend> options;
  if (terms & 1) options.bias = bias;
  if (terms & 2) options.addend = c.view();
  return compare_with_reference<Out>(a, b, options, 1 + random.below(8));
}

}  // namespace

TEST_CASE("every pair of granularities gives the bits of the reference", "[ops][gemm]") {
  random_source random(1);
  for_each_type<activation_granularities>([&]<class GA>(std::type_identity<GA>) {
    for_each_type<weight_granularities>([&]<class GB>(std::type_identity<GB>) {
      for (unsigned i = 0; i < 6; ++i) {
        const shape s = random_shape(random);
        const content what = i % 3 == 2 ? content::special : content::ordinary;
        const auto a = random_scaled<e4m3, GA>(s.m, s.k, random, what);
        const auto b = random_scaled<e4m3, GB>(s.n, s.k, random, what);
        INFO(text(s) << " A blocks " << GA::rows << "x" << GA::cols << " B blocks " << GB::rows << "x"
                     << GB::cols);
        CHECK(check<plain_output<float>>(a, b, random.below(4), random, what) == "");
      }
    });
  });
}

TEST_CASE("any format multiplies any format", "[ops][gemm]") {
  random_source random(2);
  for_each_type<formats>([&]<class EA>(std::type_identity<EA>) {
    for_each_type<formats>([&]<class EB>(std::type_identity<EB>) {
      for (unsigned i = 0; i < 4; ++i) {
        const shape s = random_shape(random);
        const content what = i % 2 == 1 ? content::special : content::ordinary;
        INFO(text(s) << " " << EA::format::name << " x " << EB::format::name);
        const auto a = random_scaled<EA, per_token>(s.m, s.k, random, what);
        const auto b = random_scaled<EB, per_channel>(s.n, s.k, random, what);
        CHECK(check<plain_output<float>>(a, b, i, random, what) == "");
      }
    });
  });
}

TEST_CASE("every output type gets one rounding", "[ops][gemm]") {
  random_source random(3);
  using outputs = std::tuple<plain_output<float>, plain_output<bf16>, plain_output<fp16>, fp8_output<e4m3>,
                             fp8_output<e5m2>, fp8_output<e4m3fnuz>, fp8_output<e5m2fnuz>>;
  for_each_type<outputs>([&]<class Out>(std::type_identity<Out>) {
    for (unsigned i = 0; i < 16; ++i) {
      const shape s = random_shape(random);
      const content what = i % 4 == 3 ? content::special : content::ordinary;
      INFO(text(s) << " case " << i);
      const auto a = random_scaled<e4m3, per_token>(s.m, s.k, random, what);
      const auto b = random_scaled<e5m2, per_channel>(s.n, s.k, random, what);
      CHECK(check<Out>(a, b, i, random, what) == "");
      const auto ag = random_scaled<e5m2, per_group<64>>(s.m, s.k, random, what);
      const auto bg = random_scaled<e4m3, block_wise<128, 128>>(s.n, s.k, random, what);
      CHECK(check<Out>(ag, bg, i / 4, random, what) == "");
    }
  });
}

TEST_CASE("the static scale of an FP8 output may be any number", "[ops][gemm]") {
  random_source random(4);
  const auto a = random_scaled<e4m3, per_token>(5, 40, random, content::special);
  const auto b = random_scaled<e4m3, per_channel>(37, 40, random, content::special);
  const float usual = fp8_output<e4m3>::scale;
  for (const float scale :
       {1.0f, -3.0f, 0.0f, -0.0f, float_of(0x7f80'0000), float_of(0x7fc0'0000), 0x1p-140f, 3e38f}) {
    fp8_output<e4m3>::scale = scale;
    INFO("scale " << scale);
    CHECK(check<fp8_output<e4m3>>(a, b, 1, random, content::special) == "");
  }
  fp8_output<e4m3>::scale = usual;
}

TEST_CASE("activations of bf16, fp16 and float meet FP8 weights", "[ops][gemm]") {
  random_source random(5);
  for_each_type<std::tuple<bf16, fp16, float>>([&]<class T>(std::type_identity<T>) {
    for_each_type<formats>([&]<class E>(std::type_identity<E>) {
      for (unsigned i = 0; i < 6; ++i) {
        const shape s = random_shape(random);
        const content what = i % 2 == 1 ? content::special : content::ordinary;
        INFO(text(s) << " " << E::format::name << " case " << i);
        const auto a = random_matrix<T>(s.m, s.k, random, what);
        CHECK(check<plain_output<T>>(a, random_scaled<E, per_channel>(s.n, s.k, random, what), i, random,
                                     what) == "");
        CHECK(check<plain_output<float>>(a, random_scaled<E, block_wise<128, 128>>(s.n, s.k, random, what), i,
                                         random, what) == "");
      }
    });
  });
}

TEST_CASE("bf16 activations may be huge or subnormal", "[ops][gemm]") {
  random_source random(6);
  for (const auto& [low, high] : {std::pair{90, 127}, std::pair{-126, -90}, std::pair{-126, 127}}) {
    for (unsigned i = 0; i < 8; ++i) {
      matrix<bf16> a(5, 67);
      for (std::ptrdiff_t r = 0; r < 5; ++r) {
        for (std::ptrdiff_t c = 0; c < 67; ++c) {
          const float x = random_float(random, low, high);
          a(r, c) = bf16::from_bits(bits_of_float(x) >> 16 & (random.below(4) == 0 ? 0x807fu : 0xffffu));
        }
      }
      INFO("exponents " << low << " to " << high);
      const auto b = random_scaled<e5m2fnuz, per_channel>(35, 67, random, content::ordinary);
      CHECK(check<plain_output<float>>(a, b, i % 4, random, content::ordinary) == "");
    }
  }
}

TEST_CASE("an odd K adds nothing behind its end", "[ops][gemm]") {
  // -2^-149 * 2^-9 rounds to -0; one product +0 more would make it +0.
  matrix<float> a(1, 1);
  a(0, 0) = -0x1p-149f;
  scaled_matrix<e4m3, per_channel> b(1, 1);
  b.codes()(0, 0) = e4m3::from_bits(1);
  b.scales()(0, 0) = 1.0f;
  random_source random(7);
  CHECK(check<plain_output<float>>(a, b, 0, random, content::ordinary) == "");
  matrix<float> d(1, 1);
  gemm_nt(a, b, d);
  CHECK(bits_of_float(d(0, 0)) == 0x8000'0000);
}

TEST_CASE("a large product is cut among the threads and gives the same bits", "[ops][gemm]") {
  random_source random(8);
  for (const shape& s : {shape{70, 300, 300}, shape{1, 900, 700}, shape{300, 20, 400}, shape{130, 65, 500}}) {
    INFO(text(s));
    const auto a = random_scaled<e4m3, per_group<64>>(s.m, s.k, random, content::ordinary);
    const auto b = random_scaled<e4m3, block_wise<128, 128>>(s.n, s.k, random, content::ordinary);
    matrix<float> wanted(s.m, s.n);
    reference::gemm_nt(a, b, wanted);
    const auto packed = pack(b);
    for (std::size_t threads = 1; threads <= 8; ++threads) {
      matrix<float> rows(s.m, s.n), from_packed(s.m, s.n);
      gemm_nt(a, b, rows, {}, {.executor = pool_of(threads)});
      gemm_nt(a, packed, from_packed, {}, {.executor = pool_of(threads)});
      const auto bytes = static_cast<std::size_t>(s.m * s.n) * sizeof(float);
      CHECK(std::memcmp(rows.data(), wanted.data(), bytes) == 0);
      CHECK(std::memcmp(from_packed.data(), wanted.data(), bytes) == 0);
    }
  }
}

TEST_CASE("a row of D does not depend on the batch that it is in", "[ops][gemm]") {
  random_source random(9);
  const auto a = random_scaled<e4m3, per_group<64>>(67, 200, random, content::special);
  const auto b = random_scaled<e4m3, block_wise<128, 128>>(100, 200, random, content::special);
  const auto packed = pack(b);
  for (const isa i : available_isas()) {
    matrix<bf16> batch(67, 100), alone(1, 100), few(5, 100);
    gemm_nt(a, packed, batch, {}, {.isa = i});
    for (std::ptrdiff_t r = 0; r < 67; ++r) {
      gemm_nt(rows(a, r, 1), packed, alone, {}, {.isa = i});
      CHECK(std::memcmp(alone.row(0), batch.row(r), 200) == 0);
    }
    gemm_nt(rows(a, 31, 5), packed, few, {}, {.isa = i});
    CHECK(std::memcmp(few.row(0), batch.row(31), 5 * 200) == 0);
  }
}

TEST_CASE("the addend may be D itself", "[ops][gemm]") {
  random_source random(10);
  const auto a = random_scaled<e4m3, per_token>(40, 130, random, content::ordinary);
  const auto b = random_scaled<e4m3, per_channel>(70, 130, random, content::ordinary);
  const auto c = random_matrix<bf16>(40, 70, random, content::special);
  const auto bias = random_bias(70, random, content::ordinary);
  matrix<bf16> wanted(40, 70);
  reference::gemm_nt(a, b, wanted, {.bias = bias, .addend = c.view()});
  for (const isa i : available_isas()) {
    for (const std::size_t threads : {1u, 3u}) {
      matrix<bf16> d = c;
      gemm_nt(a, b, d, {.bias = bias, .addend = d.view()}, {.executor = pool_of(threads), .isa = i});
      CHECK(std::memcmp(d.data(), wanted.data(), 40 * 70 * 2) == 0);
    }
  }
}

TEST_CASE("K = 0 gives addend and bias, or +0, and reads no scale", "[ops][gemm]") {
  random_source random(11);
  const matrix_view<const e4m3> no_codes(nullptr, 3, 0), no_weights(nullptr, 34, 0);
  const scaled_view<const e4m3, per_token> a{no_codes, scale_grid<const float>(nullptr, 3, 1)};
  const float poison = float_of(0x7fc0'0000);
  const scaled_view<const e4m3, per_tensor> b{no_weights, scale_grid<const float>(&poison, 1, 1)};
  const scaled_view<const e4m3, per_tensor> unreadable{no_weights, scale_grid<const float>(nullptr, 1, 1)};
  const scaled_view<const e4m3, per_group<64>> ag{no_codes, scale_grid<const float>(nullptr, 3, 0)};
  for (unsigned terms = 0; terms < 4; ++terms) {
    CHECK(check<plain_output<float>>(a, b, terms, random, content::special) == "");
    CHECK(check<plain_output<bf16>>(ag, b, terms, random, content::special) == "");
    CHECK(check<fp8_output<e4m3>>(ag, b, terms, random, content::special) == "");
  }
  matrix<float> d(3, 34);
  d(2, 33) = 5.0f;
  gemm_nt(a, unreadable, d);
  CHECK(bits_of_float(d(2, 33)) == 0);
}

TEST_CASE("M = 0 or N = 0 touches nothing", "[ops][gemm]") {
  const matrix_view<const e4m3> none(nullptr, 0, 5), some(nullptr, 4, 5);
  const scale_grid<const float> no_scales(nullptr, 0, 1);
  matrix<float> no_rows(0, 4), no_columns(4, 0);
  scaled_view<e4m3, per_tensor> codes{matrix_view<e4m3>(nullptr, 0, 4), scale_grid<float>(nullptr, 1, 1)};
  const scaled_view<const e4m3, per_token> empty{none, no_scales};
  const scaled_view<const e4m3, per_token> operand{some, scale_grid<const float>(nullptr, 4, 1)};
  gemm_nt(empty, operand, no_rows);
  gemm_nt(empty, operand, codes);
  gemm_nt(operand, empty, no_columns);
  gemm_nt(operand, pack(empty), no_columns, {.addend = no_columns.view()});
  CHECK(true);
}

TEST_CASE("grids may have any strides", "[ops][gemm]") {
  random_source random(12);
  const auto a = random_scaled<e4m3, per_group<32>>(7, 100, random, content::ordinary);
  const auto b = random_scaled<e4m3, per_channel>(40, 100, random, content::ordinary);
  matrix<float> m_major(4, 7), one(1, 1), wanted(7, 40), d(7, 40);
  for (std::ptrdiff_t r = 0; r < 7; ++r)
    for (std::ptrdiff_t g = 0; g < 4; ++g) m_major(g, r) = a.scales()(r, g);
  one(0, 0) = 0.75f;
  const scaled_view<const e4m3, per_group<32>> turned{a.codes(),
                                                      scale_grid<const float>(m_major.data(), 7, 4, 1, 7)};
  const scaled_view<const e4m3, per_channel> same{b.codes(),
                                                  scale_grid<const float>(one.data(), 40, 1, 0, 0)};
  gemm_nt(turned, b, d);
  reference::gemm_nt(a, b, wanted);
  CHECK(std::memcmp(d.data(), wanted.data(), 7 * 40 * 4) == 0);
  gemm_nt(turned, same, d);
  reference::gemm_nt(a, same, wanted);
  CHECK(std::memcmp(d.data(), wanted.data(), 7 * 40 * 4) == 0);
}

TEST_CASE("operands may be parts of larger matrices", "[ops][gemm]") {
  random_source random(13);
  const auto a = random_scaled<e4m3, per_group<32>>(9, 256, random, content::ordinary);
  const auto b = random_scaled<e4m3, block_wise<16, 32>>(96, 256, random, content::ordinary);
  const auto shard = columns(a, 64, 128);
  const auto part = columns(rows(b, 16, 48), 64, 128);
  CHECK(check<plain_output<float>>(shard, part, 3, random, content::ordinary) == "");
}
