// SPDX-License-Identifier: Apache-2.0
// The GEMM kernels of every backend that this machine runs against their contract (arch/gemm_kernels.hpp): the
// packed bytes one by one, the sums one fma after the other, and not a byte beyond the operands.
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/fp_environment.hpp>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/guard_pages.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

template <class F>
void for_each_kernel(F f) {
  for (const isa i : available_isas()) {
    std::apply([&](auto... e) { (f(i, e), ...); }, std::tuple<e4m3, e5m2, e4m3fnuz, e5m2fnuz>{});
  }
}

// The number of a float for comparisons: NaN is NaN here.
std::uint32_t number(float x) { return detail::bits_of(detail::canonical(x)); }

/// One multiply: operands at the edge of forbidden pages, and the contract computed one fma at a time.
template <class E>
struct multiply_case {
  std::ptrdiff_t rows, panels, k;
  std::vector<std::ptrdiff_t> cuts;
  combine_rule combine;
  bool exact;
  bool special = false;

  std::string run(isa i, random_source& random) const {
    const gemm_kernels<E>& kernels = gemm_kernels_of<E>(i);
    const auto segments = static_cast<std::ptrdiff_t>(cuts.size()) - 1;
    const std::ptrdiff_t n = panels * 32, stride = (k + 15) / 16 * 16 + 16, a_stride = (rows + 15) / 16 * 16;
    paged<float> a(rows * stride, edge::after), a_scales(segments * a_stride, edge::after);
    paged<float> b_scales(segments * n, edge::after), tile(rows * n, edge::after);
    paged<E> codes(n * k, edge::before);
    paged<std::byte> packed(panels * packed_layout::panel_bytes(k), edge::after);
    paged<float> scratch(kernels.blocking({rows, n, k}).scratch_floats, edge::before);

    for (std::ptrdiff_t j = 0; j < rows * stride; ++j) a[j] = activation(random);
    for (std::ptrdiff_t j = 0; j < n * k; ++j)
      codes[j] = E::from_bits(special ? random.below(256) : finite(random));
    for (std::ptrdiff_t j = 0; j < segments * a_stride; ++j) a_scales[j] = scale(random);
    for (std::ptrdiff_t j = 0; j < segments * n; ++j) b_scales[j] = scale(random);
    std::vector<float> before;
    for (std::ptrdiff_t j = 0; j < rows * n; ++j) before.push_back(tile[j] = scale(random) - 8.0f);

    for (std::ptrdiff_t p = 0; p < panels; ++p)
      kernels.pack_panel(codes.data() + p * 32 * k, k, 32, k,
                         packed.data() + p * packed_layout::panel_bytes(k));
    {
      const detail::fp_environment_guard guard;
      kernels.multiply({.a = a.data(),
                        .a_stride = stride,
                        .rows = rows,
                        .b = packed.data(),
                        .b_stride = packed_layout::panel_bytes(k),
                        .panels = panels,
                        .cuts = cuts.data(),
                        .segments = segments,
                        .a_scales = a_scales.data(),
                        .a_scales_stride = a_stride,
                        .b_scales = b_scales.data(),
                        .b_scales_stride = n,
                        .combine = combine,
                        .exact_products = exact,
                        .tile = tile.data(),
                        .tile_stride = n,
                        .scratch = scratch.data()});
    }
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      for (std::ptrdiff_t c = 0; c < n; ++c) {
        float v = before[static_cast<std::size_t>(r * n + c)];
        for (std::ptrdiff_t s = 0; s < segments; ++s) {
          float acc = 0;
          for (std::ptrdiff_t j = cuts[static_cast<std::size_t>(s)];
               j < cuts[static_cast<std::size_t>(s + 1)]; ++j)
            acc = __builtin_fmaf(a[r * stride + j], static_cast<float>(codes[c * k + j]), acc);
          const float alpha = a_scales[s * a_stride + r] * b_scales[s * n + c];
          v = combine == combine_rule::scale ? acc * alpha : __builtin_fmaf(acc, alpha, v);
        }
        if (number(tile[r * n + c]) != number(v))
          return "row " + std::to_string(r) + ", column " + std::to_string(c);
      }
    }
    return "";
  }

 private:
  static unsigned finite(random_source& random) {
    for (;;) {
      const unsigned code = random.below(256);
      if (isfinite(E::from_bits(code))) return code;
    }
  }
  // FP8 values where products have to be exact, any float where not.
  float activation(random_source& random) const {
    if (special && random.below(60) == 0) return float_of(random.below(2) == 0 ? 0x7f80'0000 : 0x7fc0'0000);
    if (exact) return static_cast<float>(E::from_bits(finite(random)));
    return float_of((random.bits32() & 0x87ff'ffff) | 0x3800'0000);
  }
  static float scale(random_source& random) {
    return 0.25f + 0x1p-20f * static_cast<float>(random.below(1 << 24));
  }
};

std::vector<std::ptrdiff_t> cuts_of(std::ptrdiff_t k, std::ptrdiff_t block) {
  std::vector<std::ptrdiff_t> cuts;
  for (std::ptrdiff_t at = 0; at < k; at += block) cuts.push_back(at);
  cuts.push_back(k);
  return cuts;
}

}  // namespace

TEST_CASE("the packed layout is a permutation of the 64 bytes of a group", "[arch][gemm]") {
  std::vector<int> seen(64);
  for (std::ptrdiff_t c = 0; c < 32; ++c)
    for (std::ptrdiff_t k = 0; k < 2; ++k)
      ++seen[static_cast<std::size_t>(packed_layout::byte_in_group(c, k))];
  CHECK(seen == std::vector<int>(64, 1));
  // Four spots of the formula, worked out by hand.
  STATIC_REQUIRE(packed_layout::byte_in_group(0, 0) == 1);
  STATIC_REQUIRE(packed_layout::byte_in_group(0, 1) == 0);
  STATIC_REQUIRE(packed_layout::byte_in_group(16, 0) == 9);
  STATIC_REQUIRE(packed_layout::byte_in_group(31, 3) == 48 + 8 + 6);
  STATIC_REQUIRE(packed_layout::panel_bytes(3) == 128);
  STATIC_REQUIRE(packed_layout::panels(33) == 2);
}

TEST_CASE("pack_panel puts every code in its place and +0 everywhere else", "[arch][gemm]") {
  random_source random(41);
  for_each_kernel([&](isa i, auto e) {
    using E = decltype(e);
    const gemm_kernels<E>& kernels = gemm_kernels_of<E>(i);
    INFO(name(i) << " " << E::format::name);
    for (const std::ptrdiff_t k :
         {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 130, 200}) {
      for (const std::ptrdiff_t columns : {1, 2, 7, 8, 15, 16, 17, 31, 32}) {
        for (const edge side : {edge::before, edge::after}) {
          const std::ptrdiff_t ldb = k + random.below(5);
          paged<E> b((columns - 1) * ldb + k, side);
          paged<std::byte> panel(packed_layout::panel_bytes(k), side);
          for (std::ptrdiff_t j = 0; j < (columns - 1) * ldb + k; ++j) b[j] = E::from_bits(random.below(256));
          std::memset(panel.data(), 0xa5, static_cast<std::size_t>(packed_layout::panel_bytes(k)));
          kernels.pack_panel(b.data(), ldb, columns, k, panel.data());
          int wrong = 0;
          for (std::ptrdiff_t at = 0; at < k + k % 2; ++at) {
            for (std::ptrdiff_t c = 0; c < 32; ++c) {
              const unsigned wanted = c < columns && at < k ? b[c * ldb + at].bits() : 0u;
              wrong += std::to_integer<unsigned>(panel[at / 2 * 64 + packed_layout::byte_in_group(c, at)]) !=
                       wanted;
            }
          }
          INFO("k " << k << ", " << columns << " columns");
          CHECK(wrong == 0);

          paged<E> back((columns - 1) * ldb + k, side);
          std::memset(static_cast<void*>(back.data()), 0x5a,
                      static_cast<std::size_t>((columns - 1) * ldb + k));
          kernels.unpack_panel(panel.data(), columns, k, back.data(), ldb);
          int different = 0;
          for (std::ptrdiff_t c = 0; c < columns; ++c)
            for (std::ptrdiff_t at = 0; at < (c == columns - 1 ? k : ldb); ++at)
              different += back[c * ldb + at].bits() != (at < k ? b[c * ldb + at].bits() : 0x5a);
          CHECK(different == 0);
        }
      }
    }
  });
}

TEST_CASE("multiply sums in increasing k and combines by one fma a segment", "[arch][gemm]") {
  random_source random(42);
  for_each_kernel([&](isa i, auto e) {
    using E = decltype(e);
    const gemm_blocking most = gemm_kernels_of<E>(i).blocking({1000, 1000, 1000});
    REQUIRE(most.rows % most.rows_at_once == 0);
    for (const std::ptrdiff_t k : {1, 2, 3, 31, 127, 128, 129, 257}) {
      for (const std::ptrdiff_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 14, 15}) {
        for (const combine_rule rule :
             {combine_rule::scale, combine_rule::scale_add, combine_rule::promote}) {
          if (rows > most.rows) continue;
          const std::ptrdiff_t panels =
              1 + random.below(static_cast<std::uint32_t>(most.panels < 3 ? most.panels : 3));
          const std::ptrdiff_t block = rule == combine_rule::promote ? 1 + random.below(140) : k;
          const bool exact = random.below(2) == 0;
          INFO(name(i) << " " << E::format::name << " k " << k << " rows " << rows << " panels " << panels
                       << " cut at " << block << (exact ? " exact" : " inexact"));
          CHECK(multiply_case<E>{rows, panels, k, cuts_of(k, block), rule, exact}.run(i, random) == "");
        }
      }
    }
    // The largest call, and every special number.
    CHECK(multiply_case<E>{most.rows, most.panels, 40, cuts_of(40, 40), combine_rule::scale, true}.run(
              i, random) == "");
    for (int repeat = 0; repeat < 10; ++repeat) {
      CHECK(multiply_case<E>{3, 1, 30, cuts_of(30, 16), combine_rule::promote, false, true}.run(i, random) ==
            "");
      CHECK(multiply_case<E>{3, 1, 30, cuts_of(30, 30), combine_rule::scale, true, true}.run(i, random) ==
            "");
    }
  });
}
