// SPDX-License-Identifier: Apache-2.0
// Each preset against the conformance table of the stacks it is named after: codes measured by running those
// stacks from float (rows marked "documented": read in their specification). A row that equals no preset, such
// as a peer's bug, is not here; docs/numerics.md lists it.
#include <array>
#include <limits>
#include <string>

#include <ofp8/core/convert.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using test::float_of;

namespace {

constexpr float plus_nan = float(e4m3::from_bits(0x7f)), infinity = std::numeric_limits<float>::infinity();
const float minus_nan = float_of(0xffc0'0000);

/// The next float above or below a positive one.
float above(float x) { return float_of(test::bits_of_float(x) + 1); }
float below(float x) { return float_of(test::bits_of_float(x) - 1); }

// ---- E4M3 --------------------------------------------------------------------------------------------------
const std::array e4m3_inputs{plus_nan,   minus_nan,       infinity,       -infinity, 449.0f, 464.0f,
                             above(464), 465.0f,          480.0f,         490.0f,    1e9f,   -0.0f,
                             0x1p-10f,   above(0x1p-10f), above(1.0625f), 3.3e-24f,  256.0f};

struct e4m3_row {
  const char* stack;
  std::array<unsigned, 17> codes;
};

template <auto P>
void check_e4m3(const e4m3_row& row) {
  test::differences d;
  for (std::size_t i = 0; i < e4m3_inputs.size(); ++i)
    d.check(convert<e4m3, P>(e4m3_inputs[i]).bits(), row.codes[i], test::bits_of_float(e4m3_inputs[i]),
            row.stack);
  CHECK(d.report() == "");
}

// ---- E5M2 --------------------------------------------------------------------------------------------------
const std::array e5m2_inputs{plus_nan, minus_nan,     infinity, 61439.0f, below(61440),
                             61440.0f, 65536.0f,      1e9f,     0x1p-17f, above(0x1p-17f),
                             1.125f,   above(1.125f), 3.3e-24f};

struct e5m2_row {
  const char* stack;
  std::array<unsigned, 13> codes;
};

template <auto P>
void check_e5m2(const e5m2_row& row) {
  test::differences d;
  for (std::size_t i = 0; i < e5m2_inputs.size(); ++i)
    d.check(convert<e5m2, P>(e5m2_inputs[i]).bits(), row.codes[i], test::bits_of_float(e5m2_inputs[i]),
            row.stack);
  CHECK(d.report() == "");
}

}  // namespace

// clang-format off
TEST_CASE("E4M3 codes are those of the stack that the preset names", "[presets]") {
  //                                                       NaN  -NaN  +inf  -inf   449   464  464+   465   480   490   1e9    -0 2^-10  2^-10+ 1.0625+ 3.3e-24 256
  check_e4m3<saturating>({"CUDA SATFINITE from f32",      {0x7f, 0x7f, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<saturating>({"CUTLASS float_e4m3_t on host", {0x7f, 0x7f, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<saturating>({"RISC-V Zvfofp8min .sat, documented",
                                                          {0x7f, 0x7f, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<nonsaturating>({"CUDA NOSAT from f32",       {0x7f, 0x7f, 0x7f, 0xff, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_ml_dtypes>({"ml_dtypes",                {0x7f, 0xff, 0x7f, 0xff, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_ml_dtypes>({"FBGEMM RNE",               {0x7f, 0xff, 0x7f, 0xff, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_ml_dtypes>({"universal e4m3",           {0x7f, 0xff, 0x7f, 0xff, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_ml_dtypes_saturate>({"ml_dtypes kSaturate",
                                                          {0x7f, 0xff, 0x7f, 0xff, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_torch_2_11>({"PyTorch CPU before 2.12", {0x7f, 0xff, 0x7f, 0xff, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_torch>({"PyTorch CPU 2.15",             {0x7f, 0xff, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_onnx_saturate>({"ONNX Runtime saturate",{0x7f, 0xff, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_onnx_saturate>({"HIP OCP SATFINITE 2024-10",
                                                          {0x7f, 0xff, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
  check_e4m3<like_arm>({"Arm FEAT_FP8, OSC = 1, documented",
                                                          {0x7f, 0x7f, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x80, 0x00, 0x01, 0x39, 0x00, 0x78}});
}

TEST_CASE("E5M2 codes are those of the stack that the preset names", "[presets]") {
  //                                                       NaN  -NaN  +inf 61439 61440- 61440 65536  1e9 2^-17 2^-17+ 1.125 1.125+ 3.3e-24
  check_e5m2<saturating>({"CUDA SATFINITE from f32",      {0x7f, 0x7f, 0x7b, 0x7b, 0x7b, 0x7b, 0x7b, 0x7b, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<saturating>({"CUTLASS float_e5m2_t",         {0x7f, 0x7f, 0x7b, 0x7b, 0x7b, 0x7b, 0x7b, 0x7b, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<nonsaturating>({"CUDA NOSAT from f32",       {0x7f, 0x7f, 0x7c, 0x7b, 0x7b, 0x7c, 0x7c, 0x7c, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<like_ml_dtypes>({"ml_dtypes",                {0x7e, 0xfe, 0x7c, 0x7b, 0x7b, 0x7c, 0x7c, 0x7c, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<like_ml_dtypes>({"FBGEMM RNE, universal",    {0x7e, 0xfe, 0x7c, 0x7b, 0x7b, 0x7c, 0x7c, 0x7c, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<like_ml_dtypes_saturate>({"ml_dtypes kSaturate",
                                                          {0x7e, 0xfe, 0x7c, 0x7b, 0x7b, 0x7b, 0x7b, 0x7b, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<like_torch>({"PyTorch CPU 2.15",             {0x7f, 0xff, 0x7c, 0x7b, 0x7b, 0x7c, 0x7c, 0x7c, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
  check_e5m2<like_torch_2_11>({"PyTorch CPU before 2.12", {0x7f, 0xff, 0x7c, 0x7b, 0x7b, 0x7c, 0x7c, 0x7c, 0x00, 0x01, 0x3c, 0x3d, 0x00}});
}
// clang-format on

TEST_CASE("Arm's default NaN is 7e in E5M2, whatever the NaN", "[presets]") {
  CHECK(convert<e5m2, like_arm>(plus_nan).bits() == 0x7e);
  CHECK(convert<e5m2, like_arm>(minus_nan).bits() == 0x7e);
  CHECK(convert<e5m2, like_arm>(float_of(0x7f80'0001)).bits() == 0x7e);
  CHECK(convert<e4m3, like_arm>(minus_nan).bits() == 0x7f);
}

TEST_CASE("every payload of a NaN gives the same code", "[presets]") {
  test::differences d;
  test::for_each_preset([&](const auto& preset) {
    test::for_each_fp8([&](auto target) {
      using E = decltype(target);
      for (int bit = 0; bit < 23; ++bit) {
        for (const std::uint32_t sign : {0u, 0x8000'0000u}) {
          const std::uint32_t bits = sign | 0x7f80'0000u | 1u << bit;
          d.check(convert<E, std::decay_t<decltype(preset)>::value>(float_of(bits)).bits(),
                  preset.template codes<E>().nan[sign != 0], bits, preset.name);
        }
      }
    });
  });
  CHECK(d.report() == "");
}
