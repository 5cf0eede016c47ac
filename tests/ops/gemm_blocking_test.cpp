// SPDX-License-Identifier: Apache-2.0
// The parts of gemm_nt that no scalar machine reaches by itself: blocks, ranges and calls of any size, and the
// rows of bf16 pairs that a dot-product instruction takes. A backend with tiny blocks, and one with a naive dot
// product, stand in.
#include <atomic>

#include "tests/catch.hpp"
#include "tests/ops/gemm_cases.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

gemm_blocking chosen;  // what the stand-ins ask for
std::atomic<int> pair_calls{0};

// The dot product as the instruction does it (numerics: hardware dot products): the odd slot first.
float dot(float acc, bf16_pair a, bf16_pair b) {
  acc = __builtin_fmaf(static_cast<float>(a.odd_slot), static_cast<float>(b.odd_slot), acc);
  return __builtin_fmaf(static_cast<float>(a.even_slot), static_cast<float>(b.even_slot), acc);
}

template <class E>
bf16_pair weights_at(const std::byte* panel, std::ptrdiff_t column, std::ptrdiff_t k) {
  const std::byte* group = panel + k / 2 * packed_layout::group_bytes;
  const auto at = [&](std::ptrdiff_t i) {
    const auto code = std::to_integer<unsigned>(group[packed_layout::byte_in_group(column, i)]);
    return convert<bf16>(static_cast<float>(E::from_bits(code)));
  };
  return {.even_slot = at(k + 1), .odd_slot = at(k)};
}

/// What arch/gemm_kernels.hpp promises to a multiply, beside the numbers.
std::string broken_promise;
template <class Row>
void check_promises(const panel_task<Row>& t, const gemm_blocking& blocking) {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; };
  const auto lines = [](std::ptrdiff_t floats) { return floats % 16 == 0; };
  if (!aligned(t.a) || !aligned(t.b) || !aligned(t.tile) || !aligned(t.scratch)) broken_promise = "alignment";
  if (!aligned(t.a_scales) || !aligned(t.b_scales)) broken_promise = "alignment of scales";
  if (!lines(t.a_stride) || !lines(t.tile_stride)) broken_promise = "strides of rows";
  if (!lines(t.a_scales_stride) || !lines(t.b_scales_stride)) broken_promise = "strides of scales";
  if (t.a_scales_stride < t.rows || t.b_scales_stride < t.panels * 32) broken_promise = "lengths of scales";
  if (t.rows < 1 || t.rows > blocking.rows || t.panels < 1 || t.panels > blocking.panels)
    broken_promise = "sizes";
  if (t.segments < 1 || t.cuts[0] != 0) broken_promise = "cuts";
  for (std::ptrdiff_t s = 0; s < t.segments; ++s)
    if (t.cuts[s + 1] <= t.cuts[s]) broken_promise = "empty segment";
  const std::ptrdiff_t k = t.cuts[t.segments],
                       row = sizeof(Row) == sizeof(float) && std::is_same_v<Row, float> ? k : (k + 1) / 2;
  if (t.a_stride < row + 16) broken_promise = "a cache line behind each row";
}

template <class E>
void multiply_checked(const panel_task<float>& t) noexcept {
  check_promises(t, chosen);
  impl::scalar::multiply<E>(t);
}

template <class E>
void multiply_pairs(const panel_task<bf16_pair>& t) noexcept {
  ++pair_calls;
  check_promises(t, chosen);
  for (std::ptrdiff_t m = 0; m < t.rows; ++m) {
    for (std::ptrdiff_t n = 0; n < t.panels * 32; ++n) {
      float& v = t.tile[m * t.tile_stride + n];
      for (std::ptrdiff_t s = 0; s < t.segments; ++s) {
        float acc = 0;
        for (std::ptrdiff_t k = t.cuts[s]; k < t.cuts[s + 1]; k += 2)
          acc = dot(acc, t.a[m * t.a_stride + k / 2], weights_at<E>(t.b + n / 32 * t.b_stride, n % 32, k));
        const float alpha = t.a_scales[s * t.a_scales_stride + m] * t.b_scales[s * t.b_scales_stride + n];
        v = t.combine == combine_rule::scale ? acc * alpha : __builtin_fmaf(acc, alpha, v);
      }
    }
  }
}

bf16_pair pair(bf16 even_k, bf16 odd_k) { return {.even_slot = odd_k, .odd_slot = even_k}; }
const bf16 zero = bf16::from_bits(0);

template <class E>
void load_pairs(const impl::activation_operand& a, std::ptrdiff_t row, bf16_pair* out) noexcept {
  const E* x = impl::row_of<E>(a, row);
  const auto at = [&](std::ptrdiff_t k) { return k < a.k ? convert<bf16>(static_cast<float>(x[k])) : zero; };
  for (std::ptrdiff_t k = 0; k < a.k; k += 2) out[k / 2] = pair(at(k), at(k + 1));
}

gemm_blocking chosen_blocking(const gemm_shape&) noexcept { return chosen; }

template <class T>
void use_pairs(impl::activation_operand& operand, matrix_view<const T>) {
  operand.load_pairs = &load_pairs<T>;
}
template <class E, class G>
void use_pairs(impl::activation_operand& operand, const scaled_view<const E, G>& a) {
  use_pairs(operand, a.codes());
}

/// gemm_nt with `chosen` blocks and, where asked for, the dot product.
template <class A, class B, class D>
void gemm_as_chosen(const A& a, const B& b, D d, const gemm_options<addend_of<D>>& options, bool pairs,
                    const execution& where) {
  using E = impl::weight_code<B>;
  impl::activation_operand activations = impl::activations_of<E>(impl::activation_view(a), isa::scalar);
  impl::weight_operand weights = impl::weights_of(impl::weight_view(b), isa::scalar);
  impl::output_operand out = impl::output_of(d, isa::scalar);
  out.addend = options.addend.data();
  out.addend_leading_dimension = options.addend.leading_dimension();
  if (!options.bias.empty()) out.bias = options.bias.data();
  weights.blocking = &chosen_blocking;
  weights.multiply = &multiply_checked<E>;
  if (pairs) {
    weights.multiply_pairs = &multiply_pairs<E>;
    use_pairs(activations, impl::activation_view(a));
  }
  impl::gemm(activations, weights, out, where);
}

template <class A, class B>
std::string compare(const A& a, const B& b, unsigned terms, bool pairs, random_source& random) {
  const auto bias = random_bias(b.rows(), random, content::ordinary);
  const auto c = random_matrix<float>(a.rows(), b.rows(), random, content::ordinary);
  gemm_options<float> options;
  if (terms & 1) options.bias = bias;
  if (terms & 2) options.addend = c.view();
  plain_output<float> wanted(a.rows(), b.rows(), 0), from_rows(a.rows(), b.rows(), 1),
      from_packed(a.rows(), b.rows(), 2);
  reference::gemm_nt(a, b, wanted.operand(), options);
  backwards reversed;
  const execution runs[] = {{}, {.executor = reversed}, {.executor = pool_of(1 + random.below(8))}};
  const execution& where = runs[random.below(3)];
  gemm_as_chosen(a, b, from_rows.operand(), options, pairs, where);
  gemm_as_chosen(a, pack(b), from_packed.operand(), options, pairs, where);
  if (!broken_promise.empty()) return "the kernel was promised more: " + broken_promise;
  const std::string d = difference(from_rows, wanted);
  return d.empty() ? difference(from_packed, wanted) : d;
}

gemm_blocking random_blocking(random_source& random) {
  const auto pick = [&](std::uint32_t most) { return static_cast<std::ptrdiff_t>(1 + random.below(most)); };
  const std::ptrdiff_t at_once = pick(5);
  return {.rows_at_once = at_once,
          .rows = at_once * pick(4),
          .panels = pick(4),
          .scratch_floats = impl::scalar::blocking({}).scratch_floats,
          .products = 1};
}

}  // namespace

TEST_CASE("no result depends on how the work is cut", "[ops][gemm]") {
  random_source random(21);
  for (unsigned i = 0; i < 200; ++i) {
    const shape s = random_shape(random);
    chosen = random_blocking(random);
    INFO(text(s) << ", " << chosen.rows_at_once << " rows at once, " << chosen.rows << " a block, "
                 << chosen.panels << " panels");
    const auto a = random_scaled<e4m3, per_group<48>>(s.m, s.k, random, content::ordinary);
    const auto b = random_scaled<e5m2, block_wise<24, 40>>(s.n, s.k, random, content::ordinary);
    CHECK(compare(a, b, i, false, random) == "");
    const auto at = random_scaled<e4m3, per_token>(s.m, s.k, random, content::ordinary);
    CHECK(compare(at, random_scaled<e4m3, per_channel>(s.n, s.k, random, content::ordinary), i, false,
                  random) == "");
  }
}

TEST_CASE("rows of bf16 pairs give the same bits", "[ops][gemm]") {
  random_source random(22);
  for (unsigned i = 0; i < 60; ++i) {
    const shape s = random_shape(random);
    chosen = random_blocking(random);
    INFO(text(s));
    const content what = i % 4 == 3 ? content::special : content::ordinary;
    const auto a = random_scaled<e4m3, per_group<64>>(s.m, s.k, random, what);
    const auto b = random_scaled<e5m2, block_wise<24, 40>>(s.n, s.k, random, what);
    const int before = pair_calls;
    CHECK(compare(a, b, i, true, random) == "");
    CHECK(pair_calls > before);
    const auto at = random_scaled<e5m2, per_token>(s.m, s.k, random, what);
    CHECK(compare(at, random_scaled<e4m3, per_channel>(s.n, s.k, random, what), i, true, random) == "");
  }
}

TEST_CASE("a cut of K at an odd place keeps rows of floats", "[ops][gemm]") {
  random_source random(23);
  chosen = random_blocking(random);
  const auto a = random_scaled<e4m3, per_token>(5, 100, random, content::ordinary);
  const auto odd = random_scaled<e4m3, per_group<33>>(40, 100, random, content::ordinary);
  const int before = pair_calls;
  CHECK(compare(a, odd, 0, true, random) == "");
  CHECK(pair_calls == before);
  // The end of an odd K is no cut inside it.
  const auto short_a = random_scaled<e4m3, per_token>(5, 33, random, content::ordinary);
  CHECK(compare(short_a, random_scaled<e4m3, per_group<33>>(40, 33, random, content::ordinary), 0, true,
                random) == "");
  CHECK(pair_calls > before);
}

TEST_CASE("bf16 activations go by pairs only within the range where that is exact", "[ops][gemm]") {
  random_source random(24);
  chosen = {.rows_at_once = 1,
            .rows = 1,
            .panels = 1,
            .scratch_floats = impl::scalar::blocking({}).scratch_floats,
            .products = 1};
  const auto b = random_scaled<e5m2fnuz, per_channel>(30, 70, random, content::ordinary);
  const std::pair<float, int> cases[] = {{0x1p-100f, 1},
                                         {0x1p100f, 1},
                                         {-0x1p100f, 1},
                                         {0.0f, 1},
                                         {-0.0f, 1},
                                         {0x1.fep-101f, 0},
                                         {0x1.02p100f, 0},
                                         {0x1p-133f, 0},
                                         {float_of(0x7f80'0000), 0},
                                         {float_of(0x7fc0'0000), 0}};
  for (const auto& [value, calls] : cases) {
    INFO("value " << value);
    matrix<bf16> a = random_matrix<bf16>(1, 70, random, content::ordinary);
    a(0, 69) = convert<bf16>(value);
    const int before = pair_calls;
    CHECK(compare(a, b, 0, true, random) == "");
    CHECK(pair_calls - before == 2 * calls);  // rows and packed, one panel each
  }
}

TEST_CASE("a product that is large enough is shared among as many tasks as run at once", "[ops][gemm]") {
  struct counting {
    std::size_t tasks = 0;
    std::size_t concurrency() const { return 5; }
    void parallel_for(std::size_t n, const task_ref& f) {
      tasks = n;
      for (std::size_t i = 0; i < n; ++i) f(i);
    }
  };
  random_source random(27);
  const auto tasks_of = [&](const shape& s) {
    counting executor;
    matrix<float> d(s.m, s.n);
    gemm_nt(random_scaled<e4m3, per_token>(s.m, s.k, random, content::ordinary),
            random_scaled<e4m3, per_channel>(s.n, s.k, random, content::ordinary), d, {},
            {.executor = executor, .isa = isa::scalar});
    return executor.tasks;
  };
  CHECK(tasks_of({40, 700, 500}) == 5);  // panels to share
  CHECK(tasks_of({700, 20, 500}) == 5);  // only rows to share
  CHECK(tasks_of({4, 40, 50}) == 1);     // not worth it
}

TEST_CASE("memory for the largest shape is enough for all smaller ones", "[ops][gemm]") {
  using A = scaled_view<const e4m3, per_group<64>>;
  random_source random(25);
  const auto bytes = [](const shape& s, std::size_t threads) {
    const execution where{.executor = pool_of(threads)};
    const std::size_t rows =
        gemm_scratch_bytes<A, scaled_view<const e4m3, per_group<32>>>(s.m, s.n, s.k, where);
    const std::size_t packed = gemm_scratch_bytes<A, packed_view<e4m3, per_group<32>>>(s.m, s.n, s.k, where);
    CHECK(packed <= rows);
    return rows;
  };
  for (unsigned i = 0; i < 2000; ++i) {
    const auto pick = [&](std::uint32_t most) { return static_cast<std::ptrdiff_t>(1 + random.below(most)); };
    const shape large{pick(3000), pick(3000), pick(1u << (4 + random.below(18)))};
    const shape small{1 + large.m * pick(100) / 101, 1 + large.n * pick(100) / 101,
                      1 + large.k * pick(100) / 101};
    const std::size_t threads = 1 + random.below(8);
    INFO(text(small) << " in " << text(large));
    REQUIRE(bytes(small, 1 + random.below(static_cast<std::uint32_t>(threads))) <= bytes(large, threads));
  }
}

TEST_CASE("the plan never needs more than gemm_scratch_bytes says", "[ops][gemm]") {
  random_source random(26);
  for (unsigned i = 0; i < 20000; ++i) {
    const auto pick = [&](std::uint32_t most) { return static_cast<std::ptrdiff_t>(1 + random.below(most)); };
    const gemm_shape s{pick(3000), pick(3000), pick(1u << (4 + random.below(18)))};
    const gemm_blocking blocking = random_blocking(random);
    const std::ptrdiff_t segments = impl::cut_segments(s.k, pick(300), pick(300), nullptr),
                         threads = pick(16);
    const impl::gemm_plan plan = impl::plan_gemm(s, segments, blocking, true, threads);
    INFO(s.m << "x" << s.n << "x" << s.k << ", " << threads << " threads");
    REQUIRE(plan.row_blocks >= 1);
    REQUIRE(plan.ranges >= 1);
    REQUIRE(plan.ranges <= packed_layout::panels(s.n));
    REQUIRE(plan.memory.tasks <= threads);
    // The longest block of rows and the widest call fit where they are put.
    const std::ptrdiff_t tiles = impl::ceil_div(s.m, blocking.rows_at_once);
    REQUIRE(plan.row_blocks <= tiles);
    const std::ptrdiff_t rows =
        (std::min)(s.m, impl::ceil_div(tiles, plan.row_blocks) * blocking.rows_at_once);
    REQUIRE(rows == plan.blocking.rows);
    REQUIRE(rows <= blocking.rows);
    REQUIRE(rows * plan.a_stride * 4 <= plan.memory.rows);
    const std::ptrdiff_t width = plan.blocking.panels * 32;
    REQUIRE(plan.blocking.panels <= blocking.panels);
    REQUIRE(rows * width * 4 <= plan.memory.tile);
    REQUIRE(segments * width * 4 <= plan.memory.b_scales);
    REQUIRE(segments * impl::round_up(rows, 16) * 4 <= plan.memory.a_scales);
    REQUIRE(plan.a_stride % 16 == 0);
    REQUIRE(plan.a_stride >= s.k + 16);
  }
}
