// SPDX-License-Identifier: Apache-2.0
// Detection on machines that this one is not: CPUID and XCR0 come from a table.
#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/arch/dispatch.hpp>

#include <cstdint>
#include <string>

#include "tests/catch.hpp"

using namespace ofp8;

namespace {

/// An AMD Zen 4 under Linux: everything on.
struct fake_machine {
  detail::cpuid_registers leaf0{.eax = 0x10, .ebx = 0x68747541, .ecx = 0x444d4163, .edx = 0x69746e65};
  detail::cpuid_registers leaf1{.eax = 0x00a10f11, .ecx = 0xffff'ffff};
  detail::cpuid_registers leaf7{.eax = 1, .ebx = 0xffff'ffff, .ecx = 0xffff'ffff};
  detail::cpuid_registers leaf7_1{.eax = 0xffff'ffff};
  std::uint64_t saved = 0xe7;
  mutable int xcr0_reads = 0;

  detail::cpuid_registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) const {
    if (leaf == 0) return leaf0;
    if (leaf == 1) return leaf1;
    return leaf == 7 && subleaf == 0   ? leaf7
           : leaf == 7 && subleaf == 1 ? leaf7_1
                                       : detail::cpuid_registers{};
  }
  std::uint64_t xcr0() const {
    ++xcr0_reads;
    return saved;
  }
};

void clear(std::uint32_t& word, int bit) { word &= ~(std::uint32_t{1} << bit); }

}  // namespace

TEST_CASE("a full machine shows vendor, family and every feature", "[arch][cpu]") {
  const cpu_features f = detail::detect_cpu(fake_machine{});
  CHECK(f.vendor == cpu_vendor::amd);
  CHECK(f.family == 0x19);
  CHECK(f.model == 0x11);
  for (const bool feature : {f.sse3, f.ssse3, f.sse4_1, f.sse4_2, f.popcnt, f.avx, f.avx2, f.fma, f.f16c,
                             f.bmi1, f.bmi2, f.avx512f, f.avx512bw, f.avx512vl, f.avx512dq, f.avx512vbmi,
                             f.avx512vbmi2, f.avx512vnni, f.avx512bf16})
    CHECK(feature);

  fake_machine intel;
  intel.leaf0 = {.eax = 0x20, .ebx = 0x756e6547, .ecx = 0x6c65746e, .edx = 0x49656e69};
  intel.leaf1.eax = 0x000806f8;  // Sapphire Rapids
  const cpu_features g = detail::detect_cpu(intel);
  CHECK(g.vendor == cpu_vendor::intel);
  CHECK(g.family == 6);
  CHECK(g.model == 0x8f);

  intel.leaf0.ebx = 0x12345678;
  CHECK(detail::detect_cpu(intel).vendor == cpu_vendor::other);
}

TEST_CASE("a feature whose CPUID bit is missing is missing, and only it", "[arch][cpu]") {
  const cpu_features all = detail::detect_cpu(fake_machine{});
  struct row {
    detail::cpuid_registers fake_machine::*leaf;
    std::uint32_t detail::cpuid_registers::*word;
    int bit;
    bool cpu_features::*feature;
  };
  using machine = fake_machine;
  using registers = detail::cpuid_registers;
  const row rows[] = {{&machine::leaf1, &registers::ecx, 0, &cpu_features::sse3},
                      {&machine::leaf1, &registers::ecx, 9, &cpu_features::ssse3},
                      {&machine::leaf1, &registers::ecx, 12, &cpu_features::fma},
                      {&machine::leaf1, &registers::ecx, 19, &cpu_features::sse4_1},
                      {&machine::leaf1, &registers::ecx, 20, &cpu_features::sse4_2},
                      {&machine::leaf1, &registers::ecx, 23, &cpu_features::popcnt},
                      {&machine::leaf1, &registers::ecx, 29, &cpu_features::f16c},
                      {&machine::leaf7, &registers::ebx, 3, &cpu_features::bmi1},
                      {&machine::leaf7, &registers::ebx, 8, &cpu_features::bmi2},
                      {&machine::leaf7, &registers::ebx, 17, &cpu_features::avx512dq},
                      {&machine::leaf7, &registers::ebx, 30, &cpu_features::avx512bw},
                      {&machine::leaf7, &registers::ebx, 31, &cpu_features::avx512vl},
                      {&machine::leaf7, &registers::ecx, 1, &cpu_features::avx512vbmi},
                      {&machine::leaf7, &registers::ecx, 6, &cpu_features::avx512vbmi2},
                      {&machine::leaf7, &registers::ecx, 11, &cpu_features::avx512vnni},
                      {&machine::leaf7_1, &registers::eax, 5, &cpu_features::avx512bf16}};
  for (const row& r : rows) {
    fake_machine m;
    clear(m.*r.leaf.*r.word, r.bit);
    cpu_features expected = all;
    expected.*r.feature = false;
    CHECK(detail::detect_cpu(m) == expected);
  }
}

TEST_CASE("a feature is missing where the operating system does not save its registers", "[arch][cpu]") {
  fake_machine without_zmm;
  without_zmm.saved = 0x07;
  const cpu_features ymm = detail::detect_cpu(without_zmm);
  CHECK(ymm.avx2);
  CHECK(ymm.fma);
  CHECK_FALSE(ymm.avx512f);
  CHECK_FALSE(ymm.avx512bf16);
  CHECK_FALSE(ymm.avx512vbmi);

  for (const std::uint64_t part : {0x27u, 0x67u, 0xa7u, 0xc7u}) {  // parts of the AVX-512 state only
    without_zmm.saved = part;
    CHECK_FALSE(detail::detect_cpu(without_zmm).avx512f);
    CHECK(detail::detect_cpu(without_zmm).avx2);
  }

  fake_machine without_ymm;
  without_ymm.saved = 0x03;
  const cpu_features xmm = detail::detect_cpu(without_ymm);
  CHECK(xmm.sse4_2);
  CHECK(xmm.bmi2);  // general registers
  for (const bool feature : {xmm.avx, xmm.avx2, xmm.fma, xmm.f16c, xmm.avx512f, xmm.avx512bf16})
    CHECK_FALSE(feature);
}

TEST_CASE("XGETBV is not executed where CPUID does not allow it", "[arch][cpu]") {
  fake_machine m;
  clear(m.leaf1.ecx, 27);
  const cpu_features f = detail::detect_cpu(m);
  CHECK(m.xcr0_reads == 0);
  CHECK_FALSE(f.avx);
  CHECK_FALSE(f.avx512f);
}

TEST_CASE("leaves that a CPU does not have are not trusted", "[arch][cpu]") {
  fake_machine m;
  m.leaf0.eax = 6;
  const cpu_features no_leaf7 = detail::detect_cpu(m);
  CHECK(no_leaf7.avx);
  CHECK_FALSE(no_leaf7.avx2);
  m.leaf0.eax = 0;
  CHECK(detail::detect_cpu(m) == cpu_features{});

  fake_machine no_subleaf;
  no_subleaf.leaf7.eax = 0;
  CHECK(detail::detect_cpu(no_subleaf).avx512vbmi);
  CHECK_FALSE(detail::detect_cpu(no_subleaf).avx512bf16);
}

#if defined(__x86_64__)
TEST_CASE("this machine's features are what the compiler's own detection says", "[arch][cpu]") {
  __builtin_cpu_init();
  CHECK(this_cpu().sse4_2 == (__builtin_cpu_supports("sse4.2") != 0));
  CHECK(this_cpu().avx == (__builtin_cpu_supports("avx") != 0));
  CHECK(this_cpu().avx2 == (__builtin_cpu_supports("avx2") != 0));
  CHECK(this_cpu().fma == (__builtin_cpu_supports("fma") != 0));
  CHECK(this_cpu().avx512f == (__builtin_cpu_supports("avx512f") != 0));
  CHECK(this_cpu().avx512bw == (__builtin_cpu_supports("avx512bw") != 0));
  CHECK(this_cpu().avx512vl == (__builtin_cpu_supports("avx512vl") != 0));
  CHECK(this_cpu().avx512vbmi == (__builtin_cpu_supports("avx512vbmi") != 0));
}
#endif

TEST_CASE("the available instruction sets are ordered by rank and end with scalar", "[arch][dispatch]") {
  const isa_list& list = available_isas();
  REQUIRE(list.size() >= 1);
  isa last = isa::automatic;
  for (isa i : list) last = i;
  CHECK(last == isa::scalar);
  CHECK(list.contains(isa::scalar));
  CHECK_FALSE(list.contains(isa::automatic));
  CHECK(impl::resolve("test", isa::automatic) == list.front());

  // A machine without any feature runs scalar.
  CHECK(isas_of(cpu_features{}).size() == 1);
  CHECK(isas_of(cpu_features{}).front() == isa::scalar);
}

namespace {
struct slow_new_backend {
  static constexpr isa id = isa::avx512_bf16;
  static constexpr int rank(const cpu_features& cpu) {
    return cpu.avx512bf16 ? cpu.vendor == cpu_vendor::amd ? 40 : 25 : 0;
  }
};
struct wide_backend {
  static constexpr isa id = isa::avx512;
  static constexpr int rank(const cpu_features& cpu) { return cpu.avx512bw ? 30 : 0; }
};
}  // namespace

TEST_CASE("a CPU that runs a newer instruction set slowly prefers the older one", "[arch][dispatch]") {
  using list = impl::backend_list<slow_new_backend, wide_backend, impl::scalar_backend>;
  const auto order = [](const cpu_features& cpu) {
    std::string text;
    for (isa i : impl::isas_of(cpu, list{})) text += std::string(name(i)) + " ";
    return text;
  };
  cpu_features cpu = detail::detect_cpu(fake_machine{});
  CHECK(order(cpu) == "avx512_bf16 avx512 scalar ");
  cpu.vendor = cpu_vendor::intel;
  CHECK(order(cpu) == "avx512 avx512_bf16 scalar ");
  cpu.avx512bf16 = false;
  CHECK(order(cpu) == "avx512 scalar ");
}

TEST_CASE("an instruction set that is not there is refused by name", "[arch][dispatch]") {
  const auto message = [](isa i) -> std::string {
    try {
      (void)impl::resolve("encode", i);
    } catch (const argument_error& e) {
      return e.what();
    }
    return "";
  };
  std::string available;
  for (isa i : available_isas()) available += (available.empty() ? "" : ", ") + std::string(name(i));
  for (isa i : {isa::avx2, isa::avx512, isa::avx512_bf16, isa::neon}) {
    if (available_isas().contains(i)) continue;
    CHECK(message(i) == std::string("encode: isa ") + name(i) +
                            " is not available on this machine (available: " + available + ")");
  }
#if defined(__x86_64__)
  CHECK(message(isa::neon) != "");
#endif
  CHECK(message(isa::scalar) == "");
}
