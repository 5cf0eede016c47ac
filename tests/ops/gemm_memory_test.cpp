// SPDX-License-Identifier: Apache-2.0
// What memory gemm_nt takes and how far it reaches: allocations counted, scratch at any alignment, operands at the
// edge of forbidden pages, rows more than 2^31 elements apart.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/catch.hpp"
#include "tests/ops/gemm_cases.hpp"
#include "tests/support/guard_pages.hpp"

#if defined(__unix__)
#include <sys/mman.h>
#endif

// The sanitizers have an operator new of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef COUNTS_ALLOCATIONS
#define COUNTS_ALLOCATIONS 1
#endif

using namespace ofp8;
using namespace ofp8::test;

namespace {

std::atomic<long> allocations{0};

}  // namespace

#if COUNTS_ALLOCATIONS
// Counted for the whole program. Not inlined: g++ would see a free() of what operator new returned, and warn.
OFP8_NOINLINE void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
OFP8_NOINLINE void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto to = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(to, (bytes + to - 1) / to * to)) return memory;
  throw std::bad_alloc();
}
OFP8_NOINLINE void operator delete(void* memory) noexcept { std::free(memory); }
OFP8_NOINLINE void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
OFP8_NOINLINE void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
OFP8_NOINLINE void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif

namespace {

template <class F>
long allocations_of(F f) {
  const long before = allocations;
  f();
  return allocations - before;
}

/// `count` elements of which only those that are touched take memory.
template <class T>
class reserved {
 public:
  explicit reserved(std::ptrdiff_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
  }
  ~reserved() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  reserved(const reserved&) = delete;
  reserved& operator=(const reserved&) = delete;
  T* data() { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace

TEST_CASE("gemm_nt allocates once, and not at all with the caller's scratch", "[ops][gemm][memory]") {
  random_source random(61);
  const auto a = random_scaled<e4m3, per_group<64>>(70, 300, random, content::ordinary);
  const auto b = random_scaled<e4m3, block_wise<128, 128>>(300, 300, random, content::ordinary);
  const auto packed = pack(b);
  matrix<bf16> d(70, 300);
  const auto bias = random_bias(300, random, content::ordinary);
  const gemm_options<bf16> options{.bias = bias, .addend = d.view()};
  backwards reversed;
  for (const isa i : available_isas()) {
    for (const execution& where : {execution{.isa = i}, execution{.executor = reversed, .isa = i}}) {
      std::vector<std::byte> for_rows(gemm_scratch_bytes(a, b, where)),
          for_packed(gemm_scratch_bytes(a, packed, where));
      execution with_rows = where, with_packed = where;
      with_rows.scratch = for_rows;
      with_packed.scratch = for_packed;
      CHECK(allocations_of([&] { gemm_nt(a, b, d, options, where); }) == COUNTS_ALLOCATIONS);
      CHECK(allocations_of([&] { gemm_nt(a, packed, d, options, where); }) == COUNTS_ALLOCATIONS);
      CHECK(allocations_of([&] { gemm_nt(a, b, d, options, with_rows); }) == 0);
      CHECK(allocations_of([&] { gemm_nt(a, packed, d, options, with_packed); }) == 0);
    }
  }
}

TEST_CASE("pack_into allocates nothing", "[ops][pack][memory]") {
  random_source random(62);
  const auto w = random_scaled<e4m3, per_channel>(300, 70, random, content::ordinary);
  matrix<std::byte> memory(1, static_cast<std::ptrdiff_t>(packed_bytes(300, 70)));
  const std::span<std::byte> bytes(memory.data(), packed_bytes(300, 70));
  CHECK(allocations_of([&] { pack_into(w, bytes); }) == 0);
}

TEST_CASE("scratch may begin anywhere and is not written beyond its end", "[ops][gemm][memory]") {
  random_source random(63);
  const auto a = random_scaled<e4m3, per_group<64>>(9, 130, random, content::ordinary);
  const auto b = random_scaled<e4m3, block_wise<128, 128>>(70, 130, random, content::ordinary);
  plain_output<float> wanted(9, 70, 0);
  reference::gemm_nt(a, b, wanted.operand());
  backwards reversed;
  for (const isa i : available_isas()) {
    const execution where{.executor = reversed, .isa = i};
    const std::size_t bytes = gemm_scratch_bytes(a, b, where);
    for (std::size_t offset = 0; offset < 70; offset += 7) {
      std::vector<unsigned char> memory(offset + bytes + 64, 0xa5);
      plain_output<float> d(9, 70, 0);
      gemm_nt(a, b, d.operand(), {},
              {.executor = reversed, .isa = i, .scratch = std::span(memory.data() + offset, bytes)});
      CHECK(difference(d, wanted) == "");
      bool intact = true;
      for (std::size_t j = 0; j < offset; ++j) intact = intact && memory[j] == 0xa5;
      for (std::size_t j = offset + bytes; j < memory.size(); ++j) intact = intact && memory[j] == 0xa5;
      CHECK(intact);
    }
  }
}

TEST_CASE("no operand is read or written beyond its ends", "[ops][gemm][memory]") {
  random_source random(64);
  for (const isa i : available_isas()) {
    for (const edge side : {edge::before, edge::after}) {
      for (int repeat = 0; repeat < 40; ++repeat) {
        const shape s = random_shape(random);
        INFO(name(i) << " " << text(s));
        const auto a_source = random_scaled<e4m3, per_group<48>>(s.m, s.k, random, content::ordinary);
        const auto b_source = random_scaled<e5m2, block_wise<24, 40>>(s.n, s.k, random, content::ordinary);
        const auto c_source = random_matrix<bf16>(s.m, s.n, random, content::ordinary);
        const auto x_source = random_matrix<bf16>(s.m, s.k, random, content::ordinary);
        const auto bias_source = random_bias(s.n, random, content::ordinary);
        const auto place = [&]<class T>(paged<T>& to, const T* from, std::ptrdiff_t count) {
          if (count > 0)
            std::memcpy(static_cast<void*>(to.data()), from, static_cast<std::size_t>(count) * sizeof(T));
        };
        const std::ptrdiff_t a_grid = (s.k + 47) / 48, b_rows = (s.n + 23) / 24, b_grid = (s.k + 39) / 40;
        paged<e4m3> a(s.m * s.k, side);
        paged<e5m2> b(s.n * s.k, side);
        paged<float> a_scales(s.m * a_grid, side), b_scales(b_rows * b_grid, side), bias(s.n, side);
        paged<bf16> c(s.m * s.n, side), d(s.m * s.n, side), x(s.m * s.k, side);
        place(a, a_source.codes().data(), s.m * s.k);
        place(b, b_source.codes().data(), s.n * s.k);
        place(a_scales, a_source.scales().data(), s.m * a_grid);
        place(b_scales, b_source.scales().data(), b_rows * b_grid);
        place(c, c_source.data(), s.m * s.n);
        place(x, x_source.data(), s.m * s.k);
        place(bias, bias_source.data(), s.n);
        const scaled_view<const e4m3, per_group<48>> av{
            matrix_view<const e4m3>(a.data(), s.m, s.k),
            scale_grid<const float>(a_scales.data(), s.m, a_grid)};
        const scaled_view<const e5m2, block_wise<24, 40>> bv{
            matrix_view<const e5m2>(b.data(), s.n, s.k),
            scale_grid<const float>(b_scales.data(), b_rows, b_grid)};
        const matrix_view<bf16> dv(d.data(), s.m, s.n);
        const gemm_options<bf16> options{
            .bias = std::span<const float>(bias.data(), static_cast<std::size_t>(s.n)),
            .addend = matrix_view<const bf16>(c.data(), s.m, s.n)};
        matrix<bf16> wanted(s.m, s.n);
        reference::gemm_nt(a_source, b_source, wanted, options);
        gemm_nt(av, bv, dv, options, {.isa = i});
        const auto bytes = static_cast<std::size_t>(s.m * s.n) * 2;
        CHECK(std::memcmp(d.data(), wanted.data(), bytes) == 0);
        reference::gemm_nt(x_source, b_source, wanted, options);
        gemm_nt(matrix_view<const bf16>(x.data(), s.m, s.k), bv, dv, options, {.isa = i});
        CHECK(std::memcmp(d.data(), wanted.data(), bytes) == 0);
      }
    }
  }
}

TEST_CASE("rows may lie more than 2^31 elements apart", "[ops][gemm][memory]") {
  constexpr std::ptrdiff_t far = (std::ptrdiff_t{1} << 31) + 64;
  reserved<e4m3> a_memory(2 * far + 100), b_memory(2 * far + 100);
  reserved<float> d_memory(2 * far + 100);
  if (a_memory.data() == nullptr || b_memory.data() == nullptr || d_memory.data() == nullptr) {
    WARN("not enough address space: left out");
    return;
  }
  random_source random(65);
  const auto a = random_scaled<e4m3, per_token>(3, 60, random, content::ordinary);
  const auto b = random_scaled<e4m3, per_channel>(3, 60, random, content::ordinary);
  const matrix_view<e4m3> a_codes(a_memory.data(), 3, 60, far), b_codes(b_memory.data(), 3, 60, far);
  const matrix_view<float> d(d_memory.data(), 3, 3, far);
  for (std::ptrdiff_t r = 0; r < 3; ++r) {
    for (std::ptrdiff_t k = 0; k < 60; ++k) {
      a_codes(r, k) = a.codes()(r, k);
      b_codes(r, k) = b.codes()(r, k);
    }
  }
  matrix<float> wanted(3, 3);
  matrix<float> twice(3, 3);
  reference::gemm_nt(a, b, wanted);
  reference::gemm_nt(a, b, twice, {.addend = wanted.view()});
  const scaled_view<const e4m3, per_token> av{matrix_view<const e4m3>(a_codes), a.scales()};
  const scaled_view<const e4m3, per_channel> bv{matrix_view<const e4m3>(b_codes), b.scales()};
  for (const isa i : available_isas()) {
    gemm_nt(av, bv, d, {}, {.isa = i});
    for (std::ptrdiff_t r = 0; r < 3; ++r)
      for (std::ptrdiff_t c = 0; c < 3; ++c) CHECK(bits_of_float(d(r, c)) == bits_of_float(wanted(r, c)));
    gemm_nt(av, pack(bv), d, {.addend = d}, {.isa = i});
    CHECK(bits_of_float(d(2, 2)) == bits_of_float(twice(2, 2)));
  }
}
