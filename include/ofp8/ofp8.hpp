// SPDX-License-Identifier: Apache-2.0
// ofp8: everything an inference engine needs for FP8 numbers, scales and products, in one include. Executors
// with threads (<ofp8/exec/thread_pool.hpp>, <ofp8/exec/openmp.hpp>) and the specification as code
// (<ofp8/reference/...>) are includes of their own.
//
//   auto wq = quantize<e4m3, per_channel>(w);
//   auto aq = quantize<e4m3, per_token>(a);
//   gemm_nt(aq, wq, d);
#pragma once

// Values, formats, conversions.
#include <ofp8/core/bits.hpp>
#include <ofp8/core/config.hpp>
#include <ofp8/core/convert.hpp>
#include <ofp8/core/e8m0.hpp>
#include <ofp8/core/error.hpp>
#include <ofp8/core/float16.hpp>
#include <ofp8/core/float8.hpp>
#include <ofp8/core/format.hpp>
#include <ofp8/core/io.hpp>
#include <ofp8/core/policy.hpp>

// Row-major views and matrices.
#include <ofp8/tensor/codes.hpp>
#include <ofp8/tensor/matrix.hpp>
#include <ofp8/tensor/matrix_view.hpp>

// What shares a scale, and how it is computed.
#include <ofp8/scale/granularity.hpp>
#include <ofp8/scale/options.hpp>
#include <ofp8/scale/recipe.hpp>
#include <ofp8/scale/recipes.hpp>
#include <ofp8/scale/scale_grid.hpp>
#include <ofp8/scale/scale_step.hpp>
#include <ofp8/scale/scaled_matrix.hpp>
#include <ofp8/scale/scaled_view.hpp>
#include <ofp8/scale/slice.hpp>
#include <ofp8/scale/static_scale.hpp>

// Who runs it, on which instructions.
#include <ofp8/arch/cpu_features.hpp>
#include <ofp8/arch/dispatch.hpp>
#include <ofp8/exec/execution.hpp>
#include <ofp8/exec/executor.hpp>

// Operations.
#include <ofp8/ops/decode.hpp>
#include <ofp8/ops/dequantize.hpp>
#include <ofp8/ops/encode.hpp>
#include <ofp8/ops/gemm.hpp>
#include <ofp8/ops/gemm_error_bound.hpp>
#include <ofp8/ops/gemm_grouped.hpp>
#include <ofp8/ops/metrics.hpp>
#include <ofp8/ops/observer.hpp>
#include <ofp8/ops/pack.hpp>
#include <ofp8/ops/packed_weight.hpp>
#include <ofp8/ops/quantize.hpp>
#include <ofp8/ops/requantize.hpp>
