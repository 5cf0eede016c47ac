// SPDX-License-Identifier: Apache-2.0
// ofp8: observers, which look at calibration data and answer with static scales. They differ in what stands
// for the amax of a tensor, or of each of its blocks:
//
//   min_max_observer<G>         the largest magnitude ever seen
//   moving_average_observer<G>  a moving average of each matrix's smallest and largest element
//   histogram_observer<G>       a percentile, or the scale of least squared error
//   amax_history_observer<E>    the amaxes of the last steps: delayed scaling
//   mse_scales<E, G>(x)         the scale of least squared error for a matrix at hand
//
//   min_max_observer<> seen;
//   for (const matrix<float>& batch : calibration) seen.observe(batch, {.executor = pool});
//   auto q = quantize<e4m3, per_tensor>(x, static_scale(seen.scale<e4m3>()));
//
// observe(x, execution) gives the same bits with any number of threads; merge(other) joins the observers of
// several threads or files; state() is a plain struct to save, the constructor takes it back. NaN and infinity
// are counted and left out.
#pragma once

#include <ofp8/ops/observer/amax_history.hpp>
#include <ofp8/ops/observer/histogram.hpp>
#include <ofp8/ops/observer/min_max.hpp>
#include <ofp8/ops/observer/moving_average.hpp>
#include <ofp8/ops/observer/mse_grid.hpp>
#include <ofp8/ops/observer/mse_search.hpp>
