// SPDX-License-Identifier: Apache-2.0
// What the stacks themselves return (tests/data), against the presets named after them.
//
//   column     preset, and where it holds
//   exact      nonsaturating, exact_sat: saturating; from float and from double ("--" for a NaN input: not compared)
//   ml         like_ml_dtypes          from float, bf16, fp16
//   torch      like_torch              from float, bf16, fp16
//   ort_sat    like_onnx_saturate      from float, bf16, fp16
// From double those three round through float first, so only the exact columns hold.
#include <cstdint>
#include <string>

#include <ofp8/core/convert.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;

namespace {

template <class E>
constexpr const char* golden_name = nullptr;
template <>
constexpr const char* golden_name<e4m3> = "e4m3fn";
template <>
constexpr const char* golden_name<e5m2> = "e5m2";
template <>
constexpr const char* golden_name<e4m3fnuz> = "e4m3fnuz";
template <>
constexpr const char* golden_name<e5m2fnuz> = "e5m2fnuz";

float from_cell(const std::string& bits, float) {
  return test::float_of(static_cast<std::uint32_t>(test::hex(bits)));
}
double from_cell(const std::string& bits, double) { return test::double_of(test::hex(bits)); }

/// Rows compared; the inputs are of type From.
template <class E, auto P, class From>
std::uint64_t check_column(const test::golden_table& table, const std::string& suffix) {
  const std::string name = std::string(golden_name<E>) + suffix;
  const std::size_t input = table.column("bits"), column = table.column(name);
  test::differences d;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& cell = table.cell(row, column);
    if (cell == "--") continue;
    const From x = from_cell(table.cell(row, input), From{});
    d.check(convert<E, P>(x).bits(), test::hex(cell), test::hex(table.cell(row, input)), name.c_str());
  }
  CHECK(d.report() == "");
  return d.checked();
}

template <class E, auto P, class H>
void check_bytes(const std::string& file) {
  const std::vector<unsigned char> codes = test::golden_bytes(file);
  REQUIRE(codes.size() == 65536);
  test::differences d;
  for (unsigned i = 0; i < 65536; ++i)
    d.check(convert<E, P>(H::from_bits(i)).bits(), codes[i], i, file.c_str());
  CHECK(d.report() == "");
}

}  // namespace

TEMPLATE_TEST_CASE("from float, every library's code is the preset's", "[golden]", e4m3, e5m2, e4m3fnuz,
                   e5m2fnuz) {
  using E = TestType;
  const test::golden_table table("codec_f32.tsv");
  REQUIRE(table.rows() == 6000);
  CHECK(check_column<E, nonsaturating, float>(table, "_exact") > 5900);
  CHECK(check_column<E, saturating, float>(table, "_exact_sat") > 5900);
  CHECK(check_column<E, like_ml_dtypes, float>(table, "_ml") == 6000);
  CHECK(check_column<E, like_torch, float>(table, "_torch") == 6000);
  CHECK(check_column<E, like_onnx_saturate, float>(table, "_ort_sat") == 6000);
}

TEST_CASE("before PyTorch 2.12 E4M3 was converted as ml_dtypes does it, the rest as today", "[golden]") {
  const test::golden_table table("codec_f32.tsv");
  CHECK(check_column<e4m3, like_torch_2_11, float>(table, "_ml") == 6000);
  CHECK(check_column<e5m2, like_torch_2_11, float>(table, "_torch") == 6000);
  CHECK(check_column<e4m3fnuz, like_torch_2_11, float>(table, "_torch") == 6000);
  CHECK(check_column<e5m2fnuz, like_torch_2_11, float>(table, "_torch") == 6000);
}

TEMPLATE_TEST_CASE("ml_dtypes kSaturate is exact_sat for finite inputs and ml for infinity and NaN",
                   "[golden]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  const test::golden_table table("codec_f32.tsv");
  const std::string name = golden_name<E>;
  test::differences d;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto bits = static_cast<std::uint32_t>(test::hex(table.cell(row, "bits")));
    const bool finite = (bits & 0x7fff'ffff) < 0x7f80'0000;
    d.check(convert<E, like_ml_dtypes_saturate>(test::float_of(bits)).bits(),
            test::hex(table.cell(row, name + (finite ? "_exact_sat" : "_ml"))), bits);
  }
  CHECK(d.report() == "");
}

TEMPLATE_TEST_CASE("from double, the code is the exact one", "[golden]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  using E = TestType;
  const test::golden_table table("codec_f64.tsv");
  REQUIRE(table.rows() == 1703);
  CHECK(check_column<E, nonsaturating, double>(table, "_exact") > 1600);
  CHECK(check_column<E, saturating, double>(table, "_exact_sat") > 1600);
}

TEST_CASE("from all bf16 and fp16 values, every library's code is the preset's", "[golden]") {
  check_bytes<e4m3, like_ml_dtypes, bf16>("codec_bf16_e4m3fn_ml.bin");
  check_bytes<e4m3, like_torch, bf16>("codec_bf16_e4m3fn_torch.bin");
  check_bytes<e4m3, like_onnx_saturate, bf16>("codec_bf16_e4m3fn_ortsat.bin");
  check_bytes<e5m2, like_ml_dtypes, bf16>("codec_bf16_e5m2_ml.bin");
  check_bytes<e5m2, like_torch, bf16>("codec_bf16_e5m2_torch.bin");
  check_bytes<e5m2, like_onnx_saturate, bf16>("codec_bf16_e5m2_ortsat.bin");
  check_bytes<e4m3, like_ml_dtypes, fp16>("codec_f16_e4m3fn_ml.bin");
  check_bytes<e4m3, like_torch, fp16>("codec_f16_e4m3fn_torch.bin");
  check_bytes<e4m3, like_onnx_saturate, fp16>("codec_f16_e4m3fn_ortsat.bin");
  check_bytes<e5m2, like_ml_dtypes, fp16>("codec_f16_e5m2_ml.bin");
  check_bytes<e5m2, like_torch, fp16>("codec_f16_e5m2_torch.bin");
  check_bytes<e5m2, like_onnx_saturate, fp16>("codec_f16_e5m2_ortsat.bin");
}

// The libraries agree on every number; torch's NaNs are signalling ones, ours are those of ml_dtypes.
TEMPLATE_TEST_CASE("all three libraries decode every number as we do", "[golden]", e4m3, e5m2, e4m3fnuz,
                   e5m2fnuz) {
  using E = TestType;
  const test::golden_table table("decode_f32.tsv");
  REQUIRE(table.rows() == 256);
  test::differences d;
  for (std::size_t row = 0; row < 256; ++row) {
    const auto code = static_cast<unsigned>(test::hex(table.cell(row, "code")));
    const E x = E::from_bits(code);
    const std::uint32_t got = test::bits_of_float(static_cast<float>(x));
    for (const char* library : {"_ml", "_torch", "_ort"}) {
      const std::uint64_t theirs = test::hex(table.cell(row, std::string(golden_name<E>) + library));
      const bool theirs_is_nan = (theirs & 0x7fff'ffff) > 0x7f80'0000;
      if (isnan(x) || theirs_is_nan)
        d.check(isnan(x), theirs_is_nan, code, library);
      else
        d.check(got, theirs, code, library);
    }
    const std::uint64_t ml = test::hex(table.cell(row, std::string(golden_name<E>) + "_ml"));
    d.check(got, ml, code, "NaN bits of ml_dtypes");
  }
  CHECK(d.report() == "");
}
