// SPDX-License-Identifier: Apache-2.0
// ofp8: mse_scales<E, G>(x), the scale of least squared error for each block of a matrix that is at hand (a
// weight), over a stated grid of candidates. Exact for every input type; for activations that come batch after
// batch there is histogram_observer::mse_scales.
//
//   matrix<float> s = mse_scales<e4m3, per_channel>(w);
//   auto wq = quantize<e4m3, per_channel>(w, static_scale(s.view()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ofp8/arch/codec_kernels.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/arch/scalar/elements.hpp>
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/ops/blocks.hpp>
#include <ofp8/ops/observer/min_max.hpp>
#include <ofp8/ops/observer/mse_grid.hpp>
#include <ofp8/ops/observer/observe_blocks.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/ops/split.hpp>
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

OFP8_STRICT_FP_BEGIN
namespace ofp8 {
OFP8_ALGORITHMS_BEGIN
namespace impl {

/// Quantizes pieces of rows and adds up the squared errors of their finite elements, in order.
template <fp8_type E, class In>
struct error_meter {
  matrix_view<const In> x;
  const recipe& how;
  const codec_kernels<E>& codec;

  double of_piece(const In* piece, std::ptrdiff_t n, const scale_step& step, double sum) const noexcept {
    E codes[piece_size];
    float back[piece_size];
    const quantize_rule rule = detail::quantize_rule_for<E, In>(how, step.divide);
    detail::quantize_kernel<In>(codec)(piece, n, n, &step.operand, rule, codes, nullptr);
    codec.dequantize_f32(codes, n, n, &step.scale, back);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const float v = scalar::load_float(piece[i]);
      if (!detail::is_finite(v)) continue;
      const double error = static_cast<double>(v) - static_cast<double>(back[i]);
      sum = __builtin_fma(error, error, sum);
    }
    return sum;
  }

  double of_block(detail::index_range rows, detail::index_range columns,
                  const scale_step& step) const noexcept {
    double sum = 0.0;
    for (std::ptrdiff_t r = rows.first; r < rows.last; ++r)
      for (std::ptrdiff_t c = columns.first; c < columns.last; c += piece_size)
        sum = of_piece(x.row(r) + c, detail::at_most(piece_size, columns.last - c), step, sum);
    return sum;
  }

  static constexpr std::ptrdiff_t piece_size = 256;
};

/// Of equal errors the first; errors are not negative, so they are ordered like their bits, NaN above all.
inline int least_of(const double* errors, int n) noexcept {
  int best = 0;
  for (int i = 1; i < n; ++i)
    if (detail::bits_of(errors[i]) < detail::bits_of(errors[best])) best = i;
  return best;
}

template <fp8_type E, granularity G, class In>
inline matrix<float> mse_scales(matrix_view<const In> x, const mse_grid& grid, const recipe& how,
                                const execution& where) {
  using scale = typename G::scale_type;
  check_mse_grid("mse_scales", grid);
  check_conversion<E>("mse_scales", how.conversion);
  observed_counts counts;
  const matrix<float> amax = amax_of(ranges_of<G>(x, counts, where));
  const detail::block_geometry g = detail::geometry_of<G>(x.rows(), x.cols());
  const error_meter<E, In> meter{x, how, codec_kernels_of<E>(resolve("mse_scales", where.isa))};
  const auto step_of = [&](std::ptrdiff_t block, int candidate) {
    return scale_step_for<E, scale, In>(how, candidate_amax(grid, amax.data()[block], candidate));
  };

  // Candidates of one block go to different tasks, so that a tensor with one scale is shared out too.
  const std::ptrdiff_t blocks = g.grid_rows * g.grid_cols, trials = blocks * grid.candidates;
  matrix<double> errors(blocks, grid.candidates);
  const std::ptrdiff_t trial_elements =
      detail::at_most(g.block_rows, g.rows) * detail::at_most(g.block_cols, g.cols);
  for_each_part(where, trials, task_count(where, trials, trial_elements, trials),
                [&](std::ptrdiff_t, std::ptrdiff_t first, std::ptrdiff_t last) {
                  for (std::ptrdiff_t t = first; t < last; ++t) {
                    const std::ptrdiff_t block = t / grid.candidates, j = block % g.grid_cols;
                    const scale_step step = step_of(block, static_cast<int>(t % grid.candidates));
                    errors.data()[t] = meter.of_block(g.rows_of_strip(block / g.grid_cols),
                                                      g.columns_of_blocks({j, j + 1}), step);
                  }
                });

  const detail::fp_environment_guard guard;
  matrix<float> best(g.grid_rows, g.grid_cols);
  for (std::ptrdiff_t block = 0; block < blocks; ++block)
    best.data()[block] = step_of(block, least_of(errors.row(block), grid.candidates)).scale;
  return best;
}

}  // namespace impl

/// One scale for each block of x (float, bf16 or fp16), for static_scale(scales.view()): the candidate with
/// the least sum of squared errors of the finite elements, in double, in increasing row and column. The recipe
/// says how a candidate's amax becomes a scale and how elements are quantized. Throws argument_error for a
/// grid without candidates, a conversion that rounds stochastically, an isa that this machine lacks.
/// Complexity: candidates times a quantization.
template <fp8_type E, granularity G, detail::wide_matrix X>
[[nodiscard]] inline matrix<float> mse_scales(const X& x, const mse_grid& grid = {}, const recipe& how = {},
                                              const execution& where = {}) {
  using in = std::remove_const_t<element_of<const X>>;
  return impl::mse_scales<E, G, in>(as_view(x), grid, how, where);
}

OFP8_ALGORITHMS_END
}  // namespace ofp8
OFP8_STRICT_FP_END
