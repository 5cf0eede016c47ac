// SPDX-License-Identifier: Apache-2.0
// ofp8: the operands of a GEMM without their types: pointers, strides and the few functions that know what the
// elements are. The loops of ops/gemm_tasks.hpp exist once, not once per combination of formats, granularities
// and outputs.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/arch/gemm_kernels.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/policy.hpp>
#include <ofp8/ops/packed_weight.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/tensor/matrix_view.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// A grid of scales. An operand without scales has no `gather`.
struct any_scales {
  const void* data = nullptr;
  std::ptrdiff_t row_stride = 0, col_stride = 0;          // elements
  std::ptrdiff_t block_rows = whole, block_cols = whole;  // of the matrix
  void (*gather)(const any_scales& grid, std::ptrdiff_t row, std::ptrdiff_t count, std::ptrdiff_t k,
                 float* out) noexcept = nullptr;
};

// out[i] = the scale of matrix element (row + i, k).
template <class Scale>
inline void gather_scales(const any_scales& grid, std::ptrdiff_t row, std::ptrdiff_t count, std::ptrdiff_t k,
                          float* out) noexcept {
  const std::ptrdiff_t block_col = grid.block_cols == whole ? 0 : k / grid.block_cols;
  const Scale* column = static_cast<const Scale*>(grid.data) + block_col * grid.col_stride;
  for (std::ptrdiff_t i = 0; i < count;) {
    const std::ptrdiff_t block = grid.block_rows == whole ? 0 : (row + i) / grid.block_rows;
    const std::ptrdiff_t next = grid.block_rows == whole ? count : (block + 1) * grid.block_rows - row;
    const std::ptrdiff_t end = next < count ? next : count;
    const float scale = static_cast<float>(column[block * grid.row_stride]);
    for (; i < end; ++i) out[i] = scale;
  }
}

template <class G, class Scale>
inline any_scales erase(scale_grid<const Scale> grid) noexcept {
  return {.data = grid.data(),
          .row_stride = grid.row_stride(),
          .col_stride = grid.col_stride(),
          .block_rows = G::rows,
          .block_cols = G::cols,
          .gather = &gather_scales<Scale>};
}

inline void gather(const any_scales& grid, std::ptrdiff_t row, std::ptrdiff_t count, std::ptrdiff_t k,
                   float* out) noexcept {
  if (grid.gather != nullptr) {
    grid.gather(grid, row, count, k, out);
  } else {
    for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = 1.0f;
  }
}

/// When the products of activations and weights are floats.
enum class product_rule : std::uint8_t { exact, exact_in_range, inexact };

/// A: m x k activations.
struct activation_operand {
  const void* data;
  std::ptrdiff_t m, k, leading_dimension;
  any_scales scales;
  product_rule products;
  const void* codec;       // the kernel table that `load` reads from
  const void* gemm_table;  // the one that `load_pairs` reads from
  /// Row `row` as k floats, exact.
  void (*load)(const activation_operand& a, std::ptrdiff_t row, float* out) noexcept;
  /// The same as pairs; null where the backend takes none or the elements do not fit in bf16.
  void (*load_pairs)(const activation_operand& a, std::ptrdiff_t row, bf16_pair* out) noexcept;
};

template <class T>
inline const T* row_of(const activation_operand& a, std::ptrdiff_t row) noexcept {
  return static_cast<const T*>(a.data) + row * a.leading_dimension;
}

template <fp8_type E>
inline void load_codes(const activation_operand& a, std::ptrdiff_t row, float* out) noexcept {
  static_cast<const codec_kernels<E>*>(a.codec)->decode_f32(row_of<E>(a, row), a.k, out);
}
template <fp8_type E>
inline void load_code_pairs(const activation_operand& a, std::ptrdiff_t row, bf16_pair* out) noexcept {
  static_cast<const gemm_kernels<E>*>(a.gemm_table)->pair_codes(row_of<E>(a, row), a.k, out);
}
template <class T>
inline void load_numbers(const activation_operand& a, std::ptrdiff_t row, float* out) noexcept {
  const T* x = row_of<T>(a, row);
  if constexpr (std::same_as<T, float>) {
    for (std::ptrdiff_t i = 0; i < a.k; ++i) out[i] = x[i];
  } else {
    const auto& kernels = *static_cast<const row_kernels*>(a.codec);
    const auto widen = [&] {
      if constexpr (std::same_as<T, bf16>) {
        return kernels.widen_bf16;
      } else {
        return kernels.widen_fp16;
      }
    }();
    widen(x, a.k, out);
  }
}
template <fp8_type EB>
inline void load_bf16_pairs(const activation_operand& a, std::ptrdiff_t row, bf16_pair* out) noexcept {
  static_cast<const gemm_kernels<EB>*>(a.gemm_table)->pair_bf16(row_of<bf16>(a, row), a.k, out);
}

/// A with scales. EB is the format of the weights that it meets.
template <fp8_type EB, class E, class G>
inline activation_operand activations_of(scaled_view<const E, G> a, isa id) noexcept {
  const gemm_kernels<E>& own = gemm_kernels_of<E>(id);
  return {.data = a.codes().data(),
          .m = a.rows(),
          .k = a.cols(),
          .leading_dimension = a.codes().leading_dimension(),
          .scales = erase<G>(a.scales()),
          .products = product_rule::exact,
          .codec = &codec_kernels_of<E>(id),
          .gemm_table = &own,
          .load = &load_codes<E>,
          .load_pairs = own.pair_codes != nullptr ? &load_code_pairs<E> : nullptr};
}

/// A of plain numbers.
template <fp8_type EB, class T>
inline activation_operand activations_of(matrix_view<const T> a, isa id) noexcept {
  const gemm_kernels<EB>& kernels = gemm_kernels_of<EB>(id);
  activation_operand operand{.data = a.data(),
                             .m = a.rows(),
                             .k = a.cols(),
                             .leading_dimension = a.leading_dimension(),
                             .scales = {},
                             .products = product_rule::inexact,
                             .codec = &row_kernels_of(id),
                             .gemm_table = &kernels,
                             .load = &load_numbers<T>,
                             .load_pairs = nullptr};
  if constexpr (std::same_as<T, fp16>) operand.products = product_rule::exact;
  if constexpr (std::same_as<T, bf16>) {
    operand.products = product_rule::exact_in_range;
    if (kernels.pair_bf16 != nullptr) operand.load_pairs = &load_bf16_pairs<EB>;
  }
  return operand;
}

/// B: n x k weights, packed or packed panel by panel on the way.
struct weight_operand {
  std::ptrdiff_t n, k;
  any_scales scales;
  const std::byte* panels;  // null where `codes` are to be packed
  const void* codes;
  std::ptrdiff_t leading_dimension;
  const void* table;
  void (*pack)(const weight_operand& b, std::ptrdiff_t panel, std::byte* out) noexcept;
  void (*multiply)(const panel_task<float>& task) noexcept;
  void (*multiply_pairs)(const panel_task<bf16_pair>& task) noexcept;
  gemm_blocking (*blocking)(const gemm_shape& shape) noexcept;
};

template <fp8_type E>
inline void pack_from_rows(const weight_operand& b, std::ptrdiff_t panel, std::byte* out) noexcept {
  const std::ptrdiff_t first = panel * packed_layout::columns;
  const std::ptrdiff_t left = b.n - first;
  static_cast<const gemm_kernels<E>*>(b.table)->pack_panel(
      static_cast<const E*>(b.codes) + first * b.leading_dimension, b.leading_dimension,
      left < packed_layout::columns ? left : packed_layout::columns, b.k, out);
}

template <fp8_type E>
inline weight_operand weights_with(std::ptrdiff_t n, std::ptrdiff_t k, any_scales scales, isa id) noexcept {
  const gemm_kernels<E>& kernels = gemm_kernels_of<E>(id);
  return {.n = n,
          .k = k,
          .scales = scales,
          .panels = nullptr,
          .codes = nullptr,
          .leading_dimension = 0,
          .table = &kernels,
          .pack = &pack_from_rows<E>,
          .multiply = kernels.multiply,
          .multiply_pairs = kernels.multiply_pairs,
          .blocking = kernels.blocking};
}
template <class E, class G>
inline weight_operand weights_of(packed_view<E, G> b, isa id) noexcept {
  weight_operand operand = weights_with<E>(b.rows(), b.cols(), erase<G>(b.scales()), id);
  operand.panels = b.panels();
  return operand;
}
template <class E, class G>
inline weight_operand weights_of(scaled_view<const E, G> b, isa id) noexcept {
  weight_operand operand = weights_with<E>(b.rows(), b.cols(), erase<G>(b.scales()), id);
  operand.codes = b.codes().data();
  operand.leading_dimension = b.codes().leading_dimension();
  return operand;
}

/// D, and what is added to the product.
struct output_operand {
  void* data;
  std::ptrdiff_t m, n, leading_dimension;
  const void* addend = nullptr;  // m x n, or null
  std::ptrdiff_t addend_leading_dimension = 0;
  const float* bias = nullptr;  // n, or null
  float scale = 1.0f;           // of FP8 output
  float* amax = nullptr;        // of D before its scale, or null
  const row_kernels* rows = nullptr;
  const void* codec = nullptr;
  /// t[i] = addend(row, col + i), exact.
  void (*load)(const output_operand& d, std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t count,
               float* t) noexcept = nullptr;
  /// D(row, col + i) = v[i], rounded once.
  void (*store)(const output_operand& d, std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t count,
                const float* v) noexcept = nullptr;
};

template <class T>
inline void load_addend(const output_operand& d, std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t count,
                        float* t) noexcept {
  const T* c = static_cast<const T*>(d.addend) + row * d.addend_leading_dimension + col;
  if constexpr (std::same_as<T, float>) {
    for (std::ptrdiff_t i = 0; i < count; ++i) t[i] = c[i];
  } else if constexpr (std::same_as<T, bf16>) {
    d.rows->widen_bf16(c, count, t);
  } else {
    d.rows->widen_fp16(c, count, t);
  }
}

template <class T>
inline void store_numbers(const output_operand& d, std::ptrdiff_t row, std::ptrdiff_t col,
                          std::ptrdiff_t count, const float* v) noexcept {
  T* out = static_cast<T*>(d.data) + row * d.leading_dimension + col;
  if constexpr (std::same_as<T, float>) {
    d.rows->canonical_f32(v, count, out);
  } else if constexpr (std::same_as<T, bf16>) {
    d.rows->narrow_bf16(v, count, out);
  } else {
    d.rows->narrow_fp16(v, count, out);
  }
}

template <fp8_type E>
inline void store_codes(const output_operand& d, std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t count,
                        const float* v) noexcept {
  constexpr quantize_rule divide{.encode = detail::encode_rule_for(E::spec, saturating), .divide = true};
  E* out = static_cast<E*>(d.data) + row * d.leading_dimension + col;
  static_cast<const codec_kernels<E>*>(d.codec)->quantize_f32(v, count, count, &d.scale, divide, out,
                                                              nullptr);
}

template <class T>
inline output_operand output_of(matrix_view<T> d, isa id) noexcept {
  return {.data = d.data(),
          .m = d.rows(),
          .n = d.cols(),
          .leading_dimension = d.leading_dimension(),
          .rows = &row_kernels_of(id),
          .load = &load_addend<T>,
          .store = &store_numbers<T>};
}
template <class E, class G>
inline output_operand output_of(scaled_view<E, G> d, isa id) noexcept {
  return {.data = d.codes().data(),
          .m = d.rows(),
          .n = d.cols(),
          .leading_dimension = d.codes().leading_dimension(),
          .scale = static_cast<float>(d.scales()(0, 0)),
          .rows = &row_kernels_of(id),
          .codec = &codec_kernels_of<E>(id),
          .load = &load_addend<float>,
          .store = &store_codes<E>};
}

}  // namespace impl
OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
