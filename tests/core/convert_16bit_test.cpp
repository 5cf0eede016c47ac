// SPDX-License-Identifier: Apache-2.0
// All 65,536 bf16 and all 65,536 fp16 values, to each FP8 format under every preset.
#include <ofp8/core/convert.hpp>

#include "tests/catch.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/presets.hpp"
#include "tests/support/samples.hpp"

using namespace ofp8;

namespace {

/// The float bits of a 16-bit code, by the list of the format's values.
template <class H>
std::uint32_t widened(unsigned code) {
  const test::layout& l = test::layout_of<H>;
  const std::uint32_t sign = code & l.sign ? 0x8000'0000 : 0;
  const unsigned magnitude = code & (l.sign - 1);
  if (magnitude > l.largest + 1) return sign | 0x7fc0'0000;
  if (magnitude > l.largest) return sign | 0x7f80'0000;
  return sign | test::bits_of_float(static_cast<float>(test::lattice_of<H>().values()[magnitude]));
}

template <class E, class H>
void check_all() {
  test::differences d;
  test::for_each_preset([&](const auto& preset) {
    const auto& codes = preset.template codes<E>();
    for (unsigned code = 0; code < 65536; ++code) {
      const E got = convert<E, std::decay_t<decltype(preset)>::value>(H::from_bits(code));
      d.check(got.bits(), test::expected_of_float<E>(widened<H>(code), codes), code, preset.name);
    }
  });
  CHECK(d.checked() == 8 * 65536);
  CHECK(d.report() == "");
}

}  // namespace

TEMPLATE_TEST_CASE("all 65,536 bf16 values are rounded exactly under every preset", "[convert]", e4m3, e5m2,
                   e4m3fnuz, e5m2fnuz) {
  check_all<TestType, bf16>();
}

TEMPLATE_TEST_CASE("all 65,536 fp16 values are rounded exactly under every preset", "[convert]", e4m3, e5m2,
                   e4m3fnuz, e5m2fnuz) {
  check_all<TestType, fp16>();
}
