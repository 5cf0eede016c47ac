// SPDX-License-Identifier: Apache-2.0
// ofp8: from scaled codes to other scaled codes: another granularity, format or scale, one scale for fused
// shards, AMD's formats. What can be kept exactly is; what cannot is rounded once, and reported.
//
//   auto blocks = requantize<e4m3, block_wise<128, 128>>(per_channel_weight, report);
//   auto qkv = requant_max<e4m3>({q.view(), k.view(), v.view()});
//   auto on_mi300 = to_fnuz(blocks);
#pragma once

#include <ofp8/ops/requantize/fnuz.hpp>
#include <ofp8/ops/requantize/granularity.hpp>
#include <ofp8/ops/requantize/requant_max.hpp>
#include <ofp8/ops/requantize/shift_table.hpp>
