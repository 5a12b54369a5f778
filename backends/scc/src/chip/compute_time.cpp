// SPDX-License-Identifier: Apache-2.0
#include "compute_time.hpp"

#include <string>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

void compute_time::measure(double cycles_a_host_second) {
  if (cycles_a_host_second == 0) return;
  if (!(cycles_a_host_second > 0 && cycles_a_host_second <= stretch_clock::most)) {
    throw usage_error("simulated chip: cycles_a_host_second must be positive, and at most 1e15");
  }
  measured_.emplace(cycles_a_host_second);
}

void compute_time::begin_stretch() noexcept {
  computes_[simulation_.running().index()] = true;
  measured_->start();
}

bool compute_time::end_stretch() {
  if (!measures()) return false;
  const cycles computed = measured_->stop();
  computes_[simulation_.running().index()] = false;
  if (computed.count > 0) charge(computed);
  return true;
}

void compute_time::refuse(cycles length) const {
  if (length.count < 0) {
    throw usage_error("simulated chip: core " + std::to_string(simulation_.running().value) +
                      " cannot compute for " + std::to_string(length.count) + " cycles");
  }
  time_limits::throw_end_of_time();
}

}  // namespace creek::scc_backend
