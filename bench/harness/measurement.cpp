// SPDX-License-Identifier: Apache-2.0
#include "measurement.hpp"

#include "ceilings/cpu.hpp"

namespace ofp8::bench {

void measurement::elements(std::size_t per_call) {
  const double n = static_cast<double>(per_call);
  state_.counters["Gel/s"] = n / seconds_ * 1e-9;
  if (const std::optional<double> clock = clock_hz(); clock && threads_ == 1)
    state_.counters["cycles_per_64"] = seconds_ * *clock / (n / 64);
}

void measurement::bytes(std::size_t per_call, traffic shape) {
  const double rate = static_cast<double>(per_call) / seconds_;
  const std::size_t per_thread = per_call / static_cast<std::size_t>(threads_);
  state_.counters["GB/s"] = rate * 1e-9;
  share(name(shape), rate, bytes_per_second(shape, per_thread, threads_));
  if (shape == traffic::read || shape == traffic::memcpy) return;
  share("memcpy", rate, bytes_per_second(traffic::memcpy, per_thread, threads_));
  const std::optional<traffic> nt = non_temporal(shape);
  if (nt && per_thread > caches().l2)  // within L2 such stores are never better
    share(name(*nt), rate, bytes_per_second(*nt, per_thread, threads_));
}

void measurement::flops(double per_call) {
  const double rate = per_call / seconds_;
  state_.counters["GF/s"] = rate * 1e-9;
  share("fma_peak", rate, fma_peak(threads_));
  share("bf16_dot_peak", rate, bf16_dot_peak(threads_));
}

void measurement::share(const std::string& ceiling, double rate, std::optional<double> limit) {
  if (limit) state_.counters["of_" + ceiling] = rate / *limit;
}

}  // namespace ofp8::bench
