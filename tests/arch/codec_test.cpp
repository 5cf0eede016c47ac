// SPDX-License-Identifier: Apache-2.0
// The codec kernels of every backend that this machine runs against core's convert, which is the
// specification, bit for bit.
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/fp_environment.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

std::uint64_t bits(float x) { return bits_of_float(x); }
template <class T>
std::uint64_t bits(T x) {
  return x.bits();
}

template <class T>
T widened(std::uint32_t code) {
  return T::from_bits(code);
}

/// The 40,960 stratified floats, filled up to 2^20 with random ones; a multiple of nothing on purpose.
const std::vector<float>& sample_floats() {
  static const std::vector<float> floats = [] {
    std::vector<float> x;
    for (std::uint32_t b : stratified_floats()) x.push_back(float_of(b));
    random_source random(3);
    while (x.size() < (1u << 20) + 5) x.push_back(float_of(random.bits32()));
    return x;
  }();
  return floats;
}

template <class T>
std::vector<T> all_of() {
  std::vector<T> x;
  for (std::uint32_t code = 0; code < 0x10000; ++code) x.push_back(T::from_bits(code));
  return x;
}

template <class T>
std::ptrdiff_t length(const std::vector<T>& x) {
  return static_cast<std::ptrdiff_t>(x.size());
}

/// Every element of `x` encoded by the kernel, against convert<E, P>.
template <class E, auto P, class In>
std::string encode_report(isa i, const std::vector<In>& x, const char* name) {
  const detail::fp_environment_guard guard;
  constexpr policy p = detail::policy_for<typename E::format, P>();
  std::vector<E> codes(x.size());
  detail::encode_kernel<In>(codec_kernels_of<E>(i))(x.data(), length(x), detail::encode_rule_for(E::spec, p),
                                                    codes.data());
  differences d;
  for (std::size_t k = 0; k < x.size(); ++k)
    d.check(codes[k].bits(), convert<E, P>(x[k]).bits(), bits(x[k]), name);
  return d.report();
}

template <auto P>
constexpr auto truncating_like = [](const format_spec& f) {
  policy p = [&] {
    if constexpr (requires { P(f); })
      return P(f);
    else
      return P;
  }();
  p.rounding = rounding_mode::toward_zero;
  return p;
};

}  // namespace

TEMPLATE_TEST_CASE("every backend decodes every code exactly as the scalar specification", "[arch][codec]",
                   e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  for (isa i : available_isas()) {
    INFO(name(i));
    const auto& kernels = codec_kernels_of<TestType>(i);
    std::vector<TestType> codes;
    for (std::uint32_t code = 0; code < 256; ++code) codes.push_back(TestType::from_bits(code));
    std::vector<float> f(256);
    std::vector<bf16> h(256);
    std::vector<fp16> g(256);
    kernels.decode_f32(codes.data(), 256, f.data());
    kernels.decode_bf16(codes.data(), 256, h.data());
    kernels.decode_fp16(codes.data(), 256, g.data());
    differences d;
    for (std::uint32_t code = 0; code < 256; ++code) {
      const float exact = detail::widen(TestType::spec, code);
      const std::uint32_t sign = (bits_of_float(exact) >> 16) & 0x8000;
      d.check(bits(f[code]), bits(exact), code, "float");
      d.check(bits(h[code]), detail::is_nan(exact) ? sign | 0x7fc0 : convert<bf16>(exact).bits(), code,
              "bf16");
      d.check(bits(g[code]), detail::is_nan(exact) ? sign | 0x7e00 : convert<fp16>(exact).bits(), code,
              "fp16");
    }
    CHECK(d.report() == "");
  }
}

TEMPLATE_TEST_CASE("every backend encodes floats under every preset as convert does", "[arch][codec]", e4m3,
                   e5m2, e4m3fnuz, e5m2fnuz) {
  for (isa i : available_isas()) {
    INFO(name(i));
    for_each_preset([&](const auto& preset) {
      constexpr auto p = std::remove_cvref_t<decltype(preset)>::value;
      CHECK(encode_report<TestType, p>(i, sample_floats(), preset.name) == "");
      CHECK(encode_report<TestType, truncating_like<p>>(i, sample_floats(), preset.name) == "");
    });
  }
}

TEMPLATE_TEST_CASE("every backend encodes all bf16 and fp16 numbers as convert does", "[arch][codec]", e4m3,
                   e5m2, e4m3fnuz, e5m2fnuz) {
  for (isa i : available_isas()) {
    INFO(name(i));
    for_each_preset([&](const auto& preset) {
      constexpr auto p = std::remove_cvref_t<decltype(preset)>::value;
      CHECK(encode_report<TestType, p>(i, all_of<bf16>(), preset.name) == "");
      CHECK(encode_report<TestType, p>(i, all_of<fp16>(), preset.name) == "");
      CHECK(encode_report<TestType, truncating_like<p>>(i, all_of<bf16>(), preset.name) == "");
      CHECK(encode_report<TestType, truncating_like<p>>(i, all_of<fp16>(), preset.name) == "");
    });
  }
}

TEST_CASE("every backend widens and narrows 16-bit numbers as core does", "[arch][codec]") {
  const detail::fp_environment_guard guard;
  for (isa i : available_isas()) {
    INFO(name(i));
    const row_kernels& rows = row_kernels_of(i);
    const auto widens = [&]<class T>(const std::vector<T>& x, auto kernel) {
      std::vector<float> out(x.size());
      kernel(x.data(), length(x), out.data());
      differences d;
      for (std::size_t k = 0; k < x.size(); ++k)
        d.check(bits(out[k]), bits(static_cast<float>(x[k])), bits(x[k]));
      return d.report();
    };
    CHECK(widens(all_of<bf16>(), rows.widen_bf16) == "");
    CHECK(widens(all_of<fp16>(), rows.widen_fp16) == "");

    const auto narrows = [&]<class T>(T, auto kernel) {
      const std::vector<float>& x = sample_floats();
      std::vector<T> out(x.size());
      kernel(x.data(), length(x), out.data());
      differences d;
      for (std::size_t k = 0; k < x.size(); ++k) d.check(bits(out[k]), convert<T>(x[k]).bits(), bits(x[k]));
      return d.report();
    };
    CHECK(narrows(bf16::from_bits(0), rows.narrow_bf16) == "");
    CHECK(narrows(fp16::from_bits(0), rows.narrow_fp16) == "");
  }
}

namespace {

/// What the contract says about one element, in core's words.
template <class E>
E quantized_element(float x, float operand, const quantize_rule& rule, policy p, quantize_counts& counts) {
  float q = rule.divide ? x / operand : x * operand;
  if (rule.quotient == quantize_rule::quotient_type::to_bf16) q = static_cast<float>(convert<bf16>(q));
  if (rule.quotient == quantize_rule::quotient_type::to_fp16) q = static_cast<float>(convert<fp16>(q));
  if (rule.on_minus_zero == minus_zero_rule::drop && bits_of_float(q) == 0x8000'0000) q = 0.0f;
  detail::unpacked u = detail::unpack(q);
  if (u.kind == detail::number_class::nan) u.negative = (bits_of_float(x) >> 31) != 0;
  const E code = E::from_bits(detail::round_to(E::spec, p, u));
  p.on_overflow = p.on_infinity = overflow_rule::nonfinite;
  const E unbounded = E::from_bits(detail::round_to(E::spec, p, u));
  const bool nan = u.kind == detail::number_class::nan;
  counts.nan += nan;
  counts.saturated += !nan && !isfinite(unbounded);
  counts.flushed += !nan && (bits_of_float(x) << 1) != 0 && code == E::from_bits(0);
  return code;
}

template <class E, class In>
std::string quantize_report(isa i, const std::vector<In>& x, std::ptrdiff_t group,
                            const std::vector<float>& operands, const quantize_rule& rule, policy p) {
  const detail::fp_environment_guard guard;
  std::vector<E> codes(x.size()), uncounted(x.size());
  quantize_counts counts{.saturated = 7, .flushed = 8, .nan = 9}, expected = counts;
  const auto kernel = detail::quantize_kernel<In>(codec_kernels_of<E>(i));
  kernel(x.data(), length(x), group, operands.data(), rule, codes.data(), &counts);
  kernel(x.data(), length(x), group, operands.data(), rule, uncounted.data(), nullptr);
  differences d;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const float operand = operands[k / static_cast<std::size_t>(group)];
    const E wanted = quantized_element<E>(static_cast<float>(x[k]), operand, rule, p, expected);
    d.check(codes[k].bits(), wanted.bits(), bits(x[k]), "counted");
    d.check(uncounted[k].bits(), wanted.bits(), bits(x[k]), "uncounted");
  }
  d.check(static_cast<std::uint64_t>(counts.saturated), static_cast<std::uint64_t>(expected.saturated), 0,
          "saturated");
  d.check(static_cast<std::uint64_t>(counts.flushed), static_cast<std::uint64_t>(expected.flushed), 0,
          "flushed");
  d.check(static_cast<std::uint64_t>(counts.nan), static_cast<std::uint64_t>(expected.nan), 0, "nan");
  return d.report();
}

/// Operands: ordinary ones, powers of two, and what only a strange recipe or weight gives.
std::vector<float> some_operands(std::size_t n) {
  const float list[] = {1.0f,
                        0.3f,
                        1.7f,
                        0x1p-9f,
                        447.9f,
                        3e-39f,
                        0x1p-126f,
                        1e30f,
                        0.0f,
                        float_of(0x7f80'0000),
                        float_of(0x7fc0'0000),
                        0.0123f};
  std::vector<float> operands;
  for (std::size_t g = 0; g < n; ++g) operands.push_back(list[(g * 5) % 12]);
  return operands;
}

/// Stratified floats near a format's range, where something happens.
template <class E>
std::vector<float> interesting_floats() {
  std::vector<float> x;
  for (double v : tricky_doubles(lattice_of<E>())) x.push_back(static_cast<float>(v));
  random_source random(11);
  for (int k = 0; k < 3000; ++k) x.push_back(float_of((random.bits32() & 0x8fff'ffff) + 0x3700'0000));
  for (int k = 0; k < 500; ++k) x.push_back(float_of(random.bits32()));
  for (std::uint32_t b :
       {0u, 0x8000'0000u, 1u, 0x8000'0001u, 0x7f80'0000u, 0xff80'0000u, 0x7f80'0001u, 0xffc0'0000u})
    x.push_back(float_of(b));
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("every backend quantizes groups as quotient, rounding and convert say, and counts",
                   "[arch][codec]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  const std::vector<float> x = interesting_floats<TestType>();
  std::vector<bf16> h;
  std::vector<fp16> g;
  for (float v : x) {
    h.push_back(convert<bf16>(v));
    g.push_back(convert<fp16>(v));
  }
  using quotient_type = quantize_rule::quotient_type;
  for (isa i : available_isas()) {
    INFO(name(i));
    for (policy p : {saturating, nonsaturating, policy{.nan_sign = nan_sign::keep},
                     policy{.rounding = rounding_mode::toward_zero}}) {
      for (const bool divide : {true, false}) {
        for (const auto quotient : {quotient_type::f32, quotient_type::to_bf16, quotient_type::to_fp16}) {
          for (const auto on_minus_zero : {minus_zero_rule::keep, minus_zero_rule::drop}) {
            const quantize_rule rule{detail::encode_rule_for(TestType::spec, p), divide, quotient,
                                     on_minus_zero};
            for (const std::ptrdiff_t group :
                 {length(x), std::ptrdiff_t{1}, std::ptrdiff_t{7}, std::ptrdiff_t{128}}) {
              const std::vector<float> operands = some_operands(x.size());
              CHECK(quantize_report<TestType>(i, x, group, operands, rule, p) == "");
              CHECK(quantize_report<TestType>(i, h, group, operands, rule, p) == "");
              CHECK(quantize_report<TestType>(i, g, group, operands, rule, p) == "");
            }
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("every backend dequantizes by one product and one rounding, NaN canonical",
                   "[arch][codec]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  const detail::fp_environment_guard guard;
  std::vector<TestType> codes;
  for (std::uint32_t k = 0; k < 256 * 13; ++k) codes.push_back(TestType::from_bits(k % 256));
  for (isa i : available_isas()) {
    INFO(name(i));
    const auto& kernels = codec_kernels_of<TestType>(i);
    for (const std::ptrdiff_t group :
         {length(codes), std::ptrdiff_t{1}, std::ptrdiff_t{5}, std::ptrdiff_t{256}}) {
      const std::vector<float> scales = some_operands(codes.size());
      std::vector<float> f(codes.size());
      std::vector<bf16> h(codes.size());
      std::vector<fp16> g(codes.size());
      kernels.dequantize_f32(codes.data(), length(codes), group, scales.data(), f.data());
      kernels.dequantize_bf16(codes.data(), length(codes), group, scales.data(), h.data());
      kernels.dequantize_fp16(codes.data(), length(codes), group, scales.data(), g.data());
      differences d;
      for (std::size_t k = 0; k < codes.size(); ++k) {
        const float product = static_cast<float>(codes[k]) * scales[k / static_cast<std::size_t>(group)];
        d.check(bits(f[k]), bits(detail::canonical(product)), k, "float");
        d.check(bits(h[k]), convert<bf16>(product).bits(), k, "bf16");
        d.check(bits(g[k]), convert<fp16>(product).bits(), k, "fp16");
      }
      CHECK(d.report() == "");
    }
  }
}

namespace {

template <class In>
std::string amax_report(isa i, const std::vector<In>& x, std::ptrdiff_t group, amax_rule rule) {
  const std::size_t groups =
      (x.size() + static_cast<std::size_t>(group) - 1) / static_cast<std::size_t>(group);
  std::vector<std::uint32_t> amax(groups, 0x3f80'0000), wanted = amax;  // 1.0 was there before
  detail::amax_kernel<In>(row_kernels_of(i))(x.data(), length(x), group, rule, amax.data());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::uint32_t magnitude = bits_of_float(static_cast<float>(x[k])) & 0x7fff'ffff;
    if (magnitude > 0x7f80'0000 && rule != amax_rule::propagate_nan) continue;
    if (magnitude == 0x7f80'0000 && rule == amax_rule::finite_only) continue;
    std::uint32_t& w = wanted[k / static_cast<std::size_t>(group)];
    if (magnitude > w) w = magnitude;
  }
  differences d;
  for (std::size_t k = 0; k < groups; ++k) {
    const bool both_nan = amax[k] > 0x7f80'0000 && wanted[k] > 0x7f80'0000;  // which NaN is not specified
    d.check(both_nan ? 0 : amax[k], both_nan ? 0 : wanted[k], k);
  }
  return d.report();
}

}  // namespace

TEST_CASE("every backend finds the largest magnitude that a rule counts, by groups", "[arch][codec]") {
  random_source random(5);
  for (isa i : available_isas()) {
    INFO(name(i));
    for (const std::uint32_t n : {0u, 1u, 31u, 64u, 200u, 1000u}) {
      for (int repeat = 0; repeat < 8; ++repeat) {
        std::vector<float> x;
        std::vector<bf16> h;
        std::vector<fp16> g;
        for (std::uint32_t k = 0; k < n; ++k) {
          // Mostly finite, of all sizes; every 2^repeat-th may be anything.
          const std::uint32_t b = random.below(1u << repeat) == 0
                                      ? random.bits32() | 0x7f80'0000u * random.below(2)
                                      : random.bits32() & 0xbfff'ffff;
          x.push_back(float_of(b));
          h.push_back(bf16::from_bits(b >> 16));
          g.push_back(fp16::from_bits(b >> 16));
        }
        for (const std::ptrdiff_t group :
             {std::ptrdiff_t{1}, std::ptrdiff_t{3}, std::ptrdiff_t{128}, std::ptrdiff_t{1000}}) {
          for (const amax_rule rule :
               {amax_rule::finite_only, amax_rule::ignore_nan, amax_rule::propagate_nan}) {
            CHECK(amax_report(i, x, group, rule) == "");
            CHECK(amax_report(i, h, group, rule) == "");
            CHECK(amax_report(i, g, group, rule) == "");
          }
        }
      }
    }
  }
}

namespace {

/// Runs `kernel(in, n, out)` on 0..129 elements at four misalignments of both sides, checks each element and
/// the bytes around.
template <class In, class Out, class Kernel, class Wanted, class Source>
std::string tails_report(Kernel kernel, Wanted wanted, Source source) {
  differences d;
  for (std::ptrdiff_t n = 0; n < 130; ++n) {
    for (std::ptrdiff_t offset = 0; offset < 4; ++offset) {
      guarded_row<In> in(n, offset);
      guarded_row<Out> out(n, 3 - offset);
      for (std::ptrdiff_t k = 0; k < n; ++k) in[k] = source(n + k + 31 * offset);
      kernel(in.data(), n, out.data());
      for (std::ptrdiff_t k = 0; k < n; ++k)
        d.check(bits(out[k]), wanted(in[k]), static_cast<std::uint64_t>(n), "element");
      d.check(in.intact() && out.intact(), true, static_cast<std::uint64_t>(n), "guard bytes");
    }
  }
  return d.report();
}

}  // namespace

TEMPLATE_TEST_CASE("every length up to 129, any alignment: right elements and no byte beyond them",
                   "[arch][codec]", e4m3, e5m2, e4m3fnuz, e5m2fnuz) {
  const detail::fp_environment_guard guard;
  using E = TestType;
  const encode_rule encode = detail::encode_rule_for(E::spec, saturating);
  const quantize_rule divide{.encode = encode, .divide = true};
  const float s = 0.7f;
  const std::vector<float>& floats = sample_floats();
  const auto float_at = [&](std::ptrdiff_t k) {
    return floats[static_cast<std::size_t>(k * 977) % floats.size()];
  };
  const auto bf16_at = [&](std::ptrdiff_t k) { return convert<bf16>(float_at(k)); };
  const auto fp16_at = [](std::ptrdiff_t k) {
    return fp16::from_bits(static_cast<unsigned>(k * 977) & 0xffff);
  };
  const auto code_at = [](std::ptrdiff_t k) { return E::from_bits(static_cast<unsigned>(k * 7) & 0xff); };
  const auto code = [](auto x) { return convert<E>(x).bits(); };
  const auto quotient = [&](auto x) { return convert<E>(static_cast<float>(x) / s).bits(); };

  for (isa i : available_isas()) {
    INFO(name(i));
    const auto& k = codec_kernels_of<E>(i);
    const auto encodes = [&](auto kernel) {
      return [=](const auto* x, std::ptrdiff_t n, E* out) { kernel(x, n, encode, out); };
    };
    CHECK(tails_report<float, E>(encodes(k.encode_f32), code, float_at) == "");
    CHECK(tails_report<bf16, E>(encodes(k.encode_bf16), code, bf16_at) == "");
    CHECK(tails_report<fp16, E>(encodes(k.encode_fp16), code, fp16_at) == "");

    const auto quantizes = [&](auto kernel) {
      return [=](const auto* x, std::ptrdiff_t n, E* out) {
        kernel(x, n, n > 0 ? n : 1, &s, divide, out, nullptr);
      };
    };
    CHECK(tails_report<float, E>(quantizes(k.quantize_f32), quotient, float_at) == "");
    CHECK(tails_report<bf16, E>(quantizes(k.quantize_bf16), quotient, bf16_at) == "");
    CHECK(tails_report<fp16, E>(quantizes(k.quantize_fp16), quotient, fp16_at) == "");

    const auto value = [](E x) { return bits(static_cast<float>(x)); };
    CHECK(tails_report<E, float>(k.decode_f32, value, code_at) == "");
    const auto top = [](E x) { return bits(static_cast<float>(x)) >> 16; };
    CHECK(tails_report<E, bf16>(k.decode_bf16, top, code_at) == "");
    const auto half = [](E x) {
      return isnan(x) ? (bits(static_cast<float>(x)) >> 16 & 0x8000) | 0x7e00
                      : bits(convert<fp16>(static_cast<float>(x)));
    };
    CHECK(tails_report<E, fp16>(k.decode_fp16, half, code_at) == "");

    const auto dequantizes = [&](auto kernel) {
      return [=](const E* x, std::ptrdiff_t n, auto* out) { kernel(x, n, n > 0 ? n : 1, &s, out); };
    };
    const auto product = [&](E x) { return bits(detail::canonical(static_cast<float>(x) * s)); };
    CHECK(tails_report<E, float>(dequantizes(k.dequantize_f32), product, code_at) == "");
    const auto narrow = [&](E x) { return bits(convert<bf16>(static_cast<float>(x) * s)); };
    CHECK(tails_report<E, bf16>(dequantizes(k.dequantize_bf16), narrow, code_at) == "");
    const auto narrow16 = [&](E x) { return bits(convert<fp16>(static_cast<float>(x) * s)); };
    CHECK(tails_report<E, fp16>(dequantizes(k.dequantize_fp16), narrow16, code_at) == "");
  }
}

TEST_CASE("16-bit rows of every length up to 129, any alignment", "[arch][codec]") {
  const detail::fp_environment_guard guard;
  const std::vector<float>& floats = sample_floats();
  const auto float_at = [&](std::ptrdiff_t k) {
    return floats[static_cast<std::size_t>(k * 977) % floats.size()];
  };
  const auto bf16_at = [](std::ptrdiff_t k) {
    return bf16::from_bits(static_cast<unsigned>(k * 977) & 0xffff);
  };
  const auto fp16_at = [](std::ptrdiff_t k) {
    return fp16::from_bits(static_cast<unsigned>(k * 977) & 0xffff);
  };
  const auto value = [](auto x) { return bits(static_cast<float>(x)); };
  for (isa i : available_isas()) {
    INFO(name(i));
    const row_kernels& k = row_kernels_of(i);
    CHECK(tails_report<bf16, float>(k.widen_bf16, value, bf16_at) == "");
    CHECK(tails_report<fp16, float>(k.widen_fp16, value, fp16_at) == "");
    CHECK(tails_report<float, bf16>(
              k.narrow_bf16, [](float x) { return bits(convert<bf16>(x)); }, float_at) == "");
    CHECK(tails_report<float, fp16>(
              k.narrow_fp16, [](float x) { return bits(convert<fp16>(x)); }, float_at) == "");
  }
}

TEST_CASE("rounding constants of all formats: the middle between two numbers goes to the even code",
          "[arch][codec]") {
  // Typed in from the formats' documents: 464 is the middle of 448 (even) and 480, 61440 of 57344 (odd) and
  // 65536, 248 of 240 (odd) and 256; half of the smallest numbers 2^-9, 2^-16, 2^-10, 2^-17.
  const auto rounds = [](const format_spec& f) { return detail::count_thresholds_for(f, false); };
  CHECK(rounds(e4m3::spec).saturated_above == bits_of_float(464.0f));
  CHECK(rounds(e5m2::spec).saturated_above == bits_of_float(61440.0f) - 1);
  CHECK(rounds(e4m3fnuz::spec).saturated_above == bits_of_float(248.0f) - 1);
  CHECK(rounds(e5m2fnuz::spec).saturated_above == bits_of_float(61440.0f) - 1);
  CHECK(rounds(e4m3::spec).flushed_up_to == bits_of_float(0x1p-10f));
  CHECK(rounds(e5m2::spec).flushed_up_to == bits_of_float(0x1p-17f));
  CHECK(rounds(e4m3fnuz::spec).flushed_up_to == bits_of_float(0x1p-11f));
  CHECK(rounds(e5m2fnuz::spec).flushed_up_to == bits_of_float(0x1p-18f));
}
