// SPDX-License-Identifier: Apache-2.0
// pack, pack_into, unpack, packed_view, packed_weight: the same codes and scales come back, and bytes that are
// no such weight are refused.
#include <type_traits>

#include "tests/catch.hpp"
#include "tests/ops/gemm_cases.hpp"

using namespace ofp8;
using namespace ofp8::test;

namespace {

template <class A, class B>
bool same(const A& a, const B& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (std::ptrdiff_t r = 0; r < a.rows(); ++r)
    for (std::ptrdiff_t c = 0; c < a.cols(); ++c)
      if (a.codes()(r, c).bits() != b.codes()(r, c).bits()) return false;
  for (std::ptrdiff_t r = 0; r < a.scales().rows(); ++r)
    for (std::ptrdiff_t c = 0; c < a.scales().cols(); ++c)
      if (std::memcmp(&a.scales()(r, c), &b.scales()(r, c), sizeof(a.scales()(r, c))) != 0) return false;
  return true;
}

/// n bytes that begin `offset` behind a multiple of 64.
class aligned_bytes {
 public:
  aligned_bytes(std::size_t n, std::size_t offset) : bytes_(n + 128), size_(n) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    begin_ = (64 - address % 64) % 64 + offset;
  }
  std::span<std::byte> span() { return {bytes_.data() + begin_, size_}; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t size_, begin_;
};

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const shape_error& e) {
    return std::string("shape: ") + e.what();
  } catch (const argument_error& e) {
    return std::string("argument: ") + e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("unpack gives back what pack took", "[ops][pack]") {
  random_source random(51);
  for (const isa i : available_isas()) {
    for (int repeat = 0; repeat < 60; ++repeat) {
      const shape s = random_shape(random);
      INFO(name(i) << " " << text(s));
      const auto w = random_scaled<e4m3, block_wise<24, 40>>(s.n, s.k, random, content::special);
      const auto packed = pack(w, {.executor = pool_of(1 + random.below(4)), .isa = i});
      CHECK(packed.rows() == s.n);
      CHECK(packed.cols() == s.k);
      CHECK(same(unpack(packed, {.executor = pool_of(2), .isa = i}), w));
      const auto mxw = random_scaled<e5m2, mx<32>>(s.n, s.k, random, content::special);
      CHECK(same(unpack(pack(mxw, {.isa = i}), {.isa = i}), mxw));
    }
  }
}

TEST_CASE("every backend and any number of threads pack the same bytes", "[ops][pack]") {
  random_source random(52);
  const auto w = random_scaled<e4m3, per_channel>(1000, 701, random, content::special);
  const auto wanted = pack(w);
  for (const isa i : available_isas()) {
    for (std::size_t threads = 1; threads <= 4; ++threads) {
      const auto got = pack(w, {.executor = pool_of(threads), .isa = i});
      const auto a = got.view().bytes(), b = wanted.view().bytes();
      REQUIRE(a.size() == b.size());
      CHECK(std::memcmp(a.data(), b.data(), a.size()) == 0);
    }
  }
}

TEST_CASE("an empty weight packs to its header", "[ops][pack]") {
  const scaled_matrix<e4m3, per_channel> none(0, 40), shallow(40, 0);
  CHECK(packed_bytes(0, 40) == 64);
  CHECK(packed_bytes(40, 0) == 64);
  CHECK(same(unpack(pack(none)), none));
  CHECK(same(unpack(pack(shallow)), shallow));
}

TEST_CASE("packed_bytes rounds N up to 32 and K to 2", "[ops][pack]") {
  STATIC_REQUIRE(packed_bytes(1, 1) == 64 + 64);
  STATIC_REQUIRE(packed_bytes(32, 2) == 64 + 64);
  STATIC_REQUIRE(packed_bytes(33, 3) == 64 + 2 * 2 * 64);
  STATIC_REQUIRE(packed_bytes(4096, 14336) == 64 + 4096 * 14336);
}

TEST_CASE("pack_into writes the bytes of pack to the caller's memory, and not one more", "[ops][pack]") {
  random_source random(53);
  const auto w = random_scaled<e4m3, per_group<32>>(45, 77, random, content::ordinary);
  const auto packed = pack(w);
  aligned_bytes memory(packed_bytes(45, 77) + 64, 0);
  std::memset(memory.span().data(), 0xa5, memory.span().size());
  const packed_view<e4m3, per_group<32>> view = pack_into(w, memory.span());
  CHECK(view.bytes().size() == packed_bytes(45, 77));
  CHECK(std::memcmp(view.bytes().data(), packed.view().bytes().data(), packed_bytes(45, 77)) == 0);
  for (std::size_t i = packed_bytes(45, 77); i < memory.span().size(); ++i)
    REQUIRE(memory.span()[i] == std::byte{0xa5});
  CHECK(view.scales().data() == w.scales().data());
  CHECK(same(unpack(view), w));

  const auto a = random_scaled<e4m3, per_token>(5, 77, random, content::ordinary);
  matrix<float> d(5, 45), wanted(5, 45);
  gemm_nt(a, view, d);
  reference::gemm_nt(a, w, wanted);
  CHECK(std::memcmp(d.data(), wanted.data(), 5 * 45 * 4) == 0);
}

TEST_CASE("packed weights copy deeply and move cheaply", "[ops][pack]") {
  random_source random(54);
  const auto w = random_scaled<e4m3, per_channel>(40, 30, random, content::ordinary);
  auto first = pack(w);
  const auto copy = first;
  const std::byte* at = first.view().bytes().data();
  CHECK(copy.view().bytes().data() != at);
  auto moved = std::move(first);
  CHECK(moved.view().bytes().data() == at);
  auto other = pack(random_scaled<e4m3, per_channel>(3, 3, random, content::ordinary));
  other = copy;
  CHECK(same(unpack(other), w));
  other = std::move(moved);
  CHECK(other.view().bytes().data() == at);
  CHECK(same(unpack(other), w));
  const packed_weight<e4m3, per_channel>& alias = other;
  other = alias;
  CHECK(same(unpack(other), w));
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<packed_weight<e4m3, per_channel>>);
}

TEST_CASE("memory that cannot hold a packed weight is refused", "[ops][pack]") {
  random_source random(55);
  const auto w = random_scaled<e4m3, per_channel>(40, 30, random, content::ordinary);
  aligned_bytes small(packed_bytes(40, 30) - 1, 0), crooked(packed_bytes(40, 30), 8);
  CHECK(error_of([&] { pack_into(w, small.span()); }) ==
        "shape: pack_into: memory has 1983 bytes, a 40x30 weight needs 1984");
  CHECK(error_of([&] { pack_into(w, crooked.span()); }) ==
        "argument: pack_into: memory begins 8 bytes behind a multiple of 64: packed weights are aligned to "
        "64 bytes");
  CHECK(error_of([&] { (void)packed_bytes(-1, 4); }) == "shape: packed_bytes: -1x4: a size is negative");
  CHECK(error_of([&] { (void)packed_bytes(1, PTRDIFF_MAX); }) ==
        "shape: packed_bytes: 1x9223372036854775807: the size in bytes exceeds 63 bits");
  CHECK(error_of([&] { (void)packed_bytes(PTRDIFF_MAX, 4); }) ==
        "shape: packed_bytes: 9223372036854775807x4: the size in bytes exceeds 63 bits");
}

TEST_CASE("bytes that hold no such weight are refused", "[ops][pack]") {
  random_source random(56);
  const auto w = random_scaled<e4m3, per_channel>(40, 30, random, content::ordinary);
  aligned_bytes memory(packed_bytes(40, 30), 0), crooked(packed_bytes(40, 30), 1);
  pack_into(w, memory.span());
  const auto view = [&](std::ptrdiff_t n, std::ptrdiff_t k, std::ptrdiff_t scales) {
    return error_of([&] {
      packed_view<e4m3, per_channel>(memory.span(), n, k,
                                     scale_grid<const float>(w.scales().data(), scales, 1));
    });
  };
  CHECK(view(40, 30, 40) == "none");
  CHECK(view(40, 30, 39) ==
        "shape: packed_view: the weight is 40x30, scales are 39x1: this granularity needs 40x1 scales");
  CHECK(view(40, 32, 40) == "shape: packed_view: memory has 1984 bytes, a 40x32 weight needs 2112");
  CHECK(view(40, 29, 40) ==
        "argument: packed_view: the bytes hold a 40x30 weight, a 40x29 one was asked for");
  CHECK(view(33, 30, 33) ==
        "argument: packed_view: the bytes hold a 40x30 weight, a 33x30 one was asked for");
  CHECK(error_of([&] { packed_view<e4m3, per_channel>(crooked.span(), 40, 30, w.scales()); }) ==
        "argument: packed_view: memory begins 1 bytes behind a multiple of 64: packed weights are aligned to "
        "64 bytes");
  CHECK(error_of([&] { packed_view<e5m2, per_channel>(memory.span(), 40, 30, w.scales()); }) ==
        "argument: packed_view: the bytes hold codes of another format: 4 exponent and 3 mantissa bits with "
        "bias 7, "
        "asked for 5 and 2 with bias 15");
  CHECK(error_of([&] { packed_view<e4m3fnuz, per_channel>(memory.span(), 40, 30, w.scales()); }) ==
        "argument: packed_view: the bytes hold codes of another format: 4 exponent and 3 mantissa bits with "
        "bias 7, "
        "asked for 4 and 3 with bias 8");
  memory.span()[4] = std::byte{2};
  CHECK(view(40, 30, 40) == "argument: packed_view: layout version is 2, this library reads 1");
  memory.span()[0] = std::byte{0};
  CHECK(view(40, 30, 40) == "argument: packed_view: the bytes are no packed weight");
}
