// SPDX-License-Identifier: Apache-2.0
// Bugs of scales and recipes that shipped elsewhere, as tests of what must hold here. The report is named in a
// comment; inputs are ours. Bugs of requantization and of products have their tests beside that code.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ofp8/ofp8.hpp>
#include <ofp8/reference/quantize.hpp>

#include "paper.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_matrix.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

template <class Q>
int nan_codes(const Q& q) {
  int n = 0;
  for (std::ptrdiff_t r = 0; r < q.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < q.cols(); ++c) n += isnan(q.codes()(r, c)) ? 1 : 0;
  return n;
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace

// S1: ao#4713, lmdeploy#3652: s = 0, then 0/0 = NaN.
TEST_CASE("an all-zero tensor has a finite positive scale and zero codes", "[reports]") {
  CHECK(quantized({0.0f, -0.0f, 0.0f}, {}) == group{bits(1.0f), {0x00, 0x80, 0x00}});
  CHECK(quantized<e4m3, mx<32>>({0.0f}, {}) == group{bits(1.0f), {0x00}});
  // Which recipes keep their library's bug, so that nobody meets it unprepared: with the scales that they are for.
  std::vector<std::string> with_nan;
  const matrix<float> zeros(1, 4);
  for (const named_recipe& r : recipes::all) {
    const bool is_mx = std::string(r.name).find("mx") != std::string::npos;
    const int n = is_mx ? nan_codes(quantize<e4m3, mx<32>>(zeros, r.how))
                        : nan_codes(quantize<e4m3, per_token>(zeros, r.how));
    if (n > 0) with_nan.push_back(r.name);
  }
  CHECK(with_nan == std::vector<std::string>{"torchao_infer", "torchao_infer_e8m0", "modelopt_fp8"});
}

// S2: slime#2256, kernels-community#680: 256x256 zeros with one 1.0 wrote 49,152 NaN bytes.
TEST_CASE("a zero block beside others gets zero codes, not NaN bytes for a checkpoint", "[reports]") {
  matrix<float> w(256, 256);
  w(3, 5) = 1.0f;
  for (const recipe& r : {recipes::standard, recipes::deepseek_v3, recipes::hf_block, recipes::llm_compressor,
                          recipes::te_block, recipes::vllm_group}) {
    const auto q = quantize<e4m3, block_wise<128, 128>>(w, r);
    CHECK(nan_codes(q) == 0);
    const auto back = dequantize(q);
    int nonzero = 0;
    for (std::ptrdiff_t i = 0; i < 256 * 256; ++i) nonzero += back.data()[i] != 0.0f ? 1 : 0;
    CHECK(nonzero == 1);
  }
}

// S3: Model-Optimizer#1397, #1633: value / s >= 480 was exported as 7f.
TEST_CASE("an element beyond a given scale's range saturates, it is no NaN byte", "[reports]") {
  matrix<float> x(1, 4);
  const float values[]{464.0f, 480.0f, 1e9f, -480.0f};
  for (std::ptrdiff_t i = 0; i < 4; ++i) x(0, i) = values[i];
  for (const recipe& r : {recipes::standard, recipes::vllm_tensor_static, recipes::modelopt_fp8})
    for (isa i : available_isas())
      CHECK(group_of(quantize<e4m3, per_tensor>(x, static_scale(1.0f), r, {.isa = i})).codes ==
            std::vector<unsigned>{0x7e, 0x7e, 0x7e, 0xfe});
}

// S4: vllm#36297, onnxruntime#29350: s and 1/s swapped. Within E4M3's half step of 2^-4, and what saturates.
TEST_CASE(
    "a stored scale is the multiplier in every recipe: dequantize gives the element back, not its square",
    "[reports]") {
  matrix<float> x(1, 3);
  x(0, 0) = 100.0f;
  x(0, 1) = -37.0f;
  x(0, 2) = 3.0f;
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    const auto back = dequantize(quantize<e4m3, per_token>(x, r.how));
    for (std::ptrdiff_t i = 1; i < 3; ++i) CHECK(std::fabs(back(0, i) - x(0, i)) <= std::fabs(x(0, i)) / 16);
    CHECK(back(0, 0) >= 80.0f);  // 633 / 448 at worst: torchao_infer_e8m0
    CHECK(back(0, 0) <= 107.0f);
  }
}

// S6: vllm#41365, transformers#36026: kv_a_proj has 576 rows.
TEST_CASE("a shard that starts inside a block is refused, one that starts at a block reads the right scale",
          "[reports]") {
  random_source random(51);
  const auto w = random_matrix<float>(random, 576, 128, 2);
  const auto q = quantize<e4m3, block_wise<128, 128>>(w);
  CHECK(message_of([&] { (void)rows(q, 288, 288); }) ==
        "rows: first 288, count 288 of 576: the cut is inside a block of 128");
  CHECK(rows(q, 512, 64).scale_at(0, 0) == q.scale_at(512, 0));
}

// S7: sglang PR 29727. E = 2, N = 192.
TEST_CASE("experts flattened to [E*N, K] with a ragged N are refused by the slice: a block would span two",
          "[reports]") {
  random_source random(52);
  const auto w = random_matrix<float>(random, 384, 128, 2);
  const auto q = quantize<e4m3, block_wise<128, 128>>(w);
  CHECK(message_of([&] { (void)rows(q, 192, 192); }).find("inside a block of 128") != std::string::npos);
  // Each on its own has a grid that starts at its first row.
  const matrix_view<const float> second(&w(192, 0), 192, 128, 128);
  const auto own = quantize<e4m3, block_wise<128, 128>>(second);
  CHECK(own.scales().rows() == 2);
  float amax = 0.0f;
  for (std::ptrdiff_t r = 0; r < 128; ++r)
    for (std::ptrdiff_t c = 0; c < 128; ++c) amax = std::fmax(amax, std::fabs(second(r, c)));
  CHECK(own.scale_at(0, 0) == amax / 448.0f);
}

// S8: FBGEMM#2713, vllm#19630, TensorRT-LLM#16569: a sliced QKV was read as if contiguous.
TEST_CASE("a part of a wider matrix is read by its leading dimension", "[reports]") {
  random_source random(53);
  const auto qkv = random_matrix<float>(random, 5, 96, 4);
  matrix<float> copy(5, 32);
  for (std::ptrdiff_t r = 0; r < 5; ++r)
    for (std::ptrdiff_t c = 0; c < 32; ++c) copy(r, c) = qkv(r, 32 + c);
  const matrix_view<const float> k(&qkv(0, 32), 5, 32, 96);
  const auto from_view = quantize<e4m3, per_token>(k), from_copy = quantize<e4m3, per_token>(copy);
  for (std::ptrdiff_t r = 0; r < 5; ++r) {
    CHECK(from_view.scale_at(r, 0) == from_copy.scale_at(r, 0));
    for (std::ptrdiff_t c = 0; c < 32; ++c) CHECK(from_view.codes()(r, c) == from_copy.codes()(r, c));
  }
}

// S10: AutoFP8#9, pytorch#140967: an expert with no tokens; amax of an empty tensor threw.
TEST_CASE("a matrix without rows or columns has scales and no codes, and its amax is that of a zero group",
          "[reports]") {
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    const auto no_rows = quantize<e4m3, per_token>(matrix<float>(0, 64), r.how);
    const auto no_columns = quantize<e4m3, mx<32>>(matrix<float>(4, 0), r.how);
    CHECK(no_rows.scales().rows() == 0);
    CHECK(no_columns.scales().cols() == 0);
    const auto tensor = quantize<e4m3, per_tensor>(matrix<float>(0, 0), r.how);
    CHECK(bits(tensor.scale_at(0, 0)) == scale_of<e4m3>(r.how, 0.0f));
  }
}

// S11: sglang#33106, grouped_gemm#36.
TEST_CASE("padding tokens with NaN change neither scales nor codes of the others", "[reports]") {
  random_source random(54);
  const auto x = random_matrix<float>(random, 4, 128, 4);
  matrix<float> padded = x;
  for (std::ptrdiff_t c = 0; c < 128; ++c) padded(2, c) = not_a_number;
  for (const named_recipe& r : recipes::all) {
    INFO(r.name);
    const auto q = quantize<e4m3, per_group<32>>(x, r.how), p = quantize<e4m3, per_group<32>>(padded, r.how);
    int wrong = 0;
    for (std::ptrdiff_t row : {0, 1, 3}) {
      for (std::ptrdiff_t j = 0; j < 4; ++j) wrong += q.scales()(row, j) == p.scales()(row, j) ? 0 : 1;
      for (std::ptrdiff_t c = 0; c < 128; ++c) wrong += q.codes()(row, c) == p.codes()(row, c) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

// S13: ROCm/TE#485, vllm#7210, sglang#35111: a factor of 2, not 448 / 240, and byte 80 is NaN there.
TEST_CASE("an E4M3 code read as FNUZ is half its value, but for 80 and the NaN codes", "[reports]") {
  for (unsigned code = 0; code < 256; ++code) {
    if (code == 0x80 || (code & 0x7f) == 0x7f) continue;
    CHECK(float(e4m3::from_bits(code)) == 2.0f * float(e4m3fnuz::from_bits(code)));
  }
  CHECK(isnan(e4m3fnuz::from_bits(0x80)));
  // A scale for FNUZ codes is amax / 240, in every recipe that divides by the largest number.
  CHECK(quantized<e4m3fnuz>({240.0f, -120.0f}, {}) == group{bits(1.0f), {0x7f, 0xf7}});
  CHECK(quantized<e4m3fnuz>({240.0f, 1.0f}, recipes::fbgemm_row).scale == bits(1.0f));
}

// S14: transformers#47030, sglang#28307: s rounded up after quantization inflates up to twice. Here amax = 300:
// s = 300 / 448 = 0.67 -> 1; codes made with 0.67 would read back as 448 instead of 300.
TEST_CASE("codes of an e8m0 group are made with the rounded scale", "[reports]") {
  const group g = quantized<e4m3, mx<32>>({300.0f, 150.0f}, {});
  CHECK(g == group{bits(1.0f), {0x79, 0x71}});  // 288 and 144, the numbers next to 300 and 150
  CHECK(float(e4m3::from_bits(0x79)) == 288.0f);
  CHECK(quantized<e4m3, mx<32>>({300.0f}, recipes::deepseek_v3_ue8m0) == group{bits(1.0f), {0x79}});
}

// S15: vllm#51372, #22399, DeepGEMM#112: the mantissa was cut off in silence.
TEST_CASE("a given scale that is no power of two is refused where scales are e8m0", "[reports]") {
  const matrix<float> x(1, 32);
  CHECK(message_of([&] {
          (void)quantize<e4m3, mx<32>>(x, static_scale(0.75f));
        }).find("cannot be stored in the scale's type without rounding") != std::string::npos);
  CHECK((quantize<e4m3, mx<32>>(x, static_scale(0.5f)).scale_at(0, 0) == 0.5f));
}

// S16: TE#427, iree#20847.
TEST_CASE("e8m0: 00 is 2^-127, ff is NaN, and no negative number can be a scale", "[reports]") {
  CHECK(float(e8m0::from_bits(0x00)) == 0x1p-127f);
  CHECK(std::isnan(float(e8m0::from_bits(0xff))));
  CHECK(message_of([] { (void)static_scale(-1.0f); }).find("not finite and positive") != std::string::npos);
  // Groups with scale code 00 read back: 2^-127 * 1.5 = code 3c.
  matrix<e4m3> codes(1, 1);
  codes(0, 0) = e4m3::from_bits(0x3c);
  matrix<e8m0> scale(1, 1);
  scale(0, 0) = e8m0::from_bits(0x00);
  const scaled_view<const e4m3, mx<32>> q{codes.view(), scale.view()};
  CHECK(bits(dequantize(q)(0, 0)) == bits(0x1.8p-127f));
}

// S20: TE#3550: a paired maximum lost the NaN and the group came out finite.
TEST_CASE("a NaN in a bf16 group stays NaN with an e8m0 scale, or makes the scale NaN, as the recipe says",
          "[reports]") {
  for (std::ptrdiff_t at = 0; at < 32; ++at) {
    std::vector<float> x(32, 1.0f);
    x[static_cast<std::size_t>(at)] = not_a_number;
    for (const named_recipe& r : recipes::all) {
      INFO(r.name << ", NaN at " << at);
      const group g = quantized<e4m3, mx<32>, bf16>(x, r.how);
      const bool lost = (g.codes[static_cast<std::size_t>(at)] & 0x7f) != 0x7f && !std::isnan(from(g.scale));
      // vLLM's kernels clamp NaN to 448, on purpose.
      CHECK(lost == (r.how.on_nan == nan_rule::largest));
    }
  }
}

// S27: torchao_infer with e8m0: s = 1 / 448 = 2^-8.81 -> 2^-9: 1 / s = 512 -> 448, 12.5% low.
TEST_CASE("rounding the exponent to nearest saturates: 1 becomes 0.875; rounding up does not", "[reports]") {
  CHECK(quantized({1.0f}, recipes::torchao_infer_e8m0) == group{bits(0x1p-9f), {0x7e}});
  CHECK(448.0f * 0x1p-9f == 0.875f);
  CHECK(quantized<e4m3, mx<32>>({1.0f}, {}) == group{bits(0x1p-8f), {0x78}});
  CHECK(float(e4m3::from_bits(0x78)) * 0x1p-8f == 1.0f);
}

// S28: vLLM's CUDA and torch paths. Rows of 1024 as activations have them.
TEST_CASE("dividing by s and multiplying by 1/s differ in some codes of bf16 rows: two recipes, not one",
          "[reports]") {
  random_source random(55);
  constexpr std::ptrdiff_t row_count = 512, k = 1024;
  matrix<bf16> x(row_count, k);
  for (std::ptrdiff_t i = 0; i < row_count * k; ++i) {
    float sum = 0.0f;  // of 12 uniform numbers: close to a normal one
    for (int j = 0; j < 12; ++j) sum += static_cast<float>(random.bits32()) * 0x1p-32f;
    x.data()[i] = convert<bf16>(sum - 6.0f);
  }
  const auto cuda = quantize<e4m3, per_token>(x, recipes::vllm_token_cuda);
  const auto native = quantize<e4m3, per_token>(x, recipes::vllm_token_native);
  int rows_differ = 0, codes_differ = 0;
  for (std::ptrdiff_t r = 0; r < row_count; ++r) {
    CHECK(bits(cuda.scale_at(r, 0)) == bits(native.scale_at(r, 0)));
    int here = 0;
    for (std::ptrdiff_t c = 0; c < k; ++c) here += cuda.codes()(r, c) == native.codes()(r, c) ? 0 : 1;
    codes_differ += here;
    rows_differ += here > 0 ? 1 : 0;
  }
  CHECK(rows_differ == 31);    // 6.1% of 512 rows
  CHECK(codes_differ == 348);  // 0.066% of the codes
}
