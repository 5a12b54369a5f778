// SPDX-License-Identifier: Apache-2.0
// The point of its program at which each core is, and how much it knows of the others.
#pragma once

#include <vector>

#include "call_stacks/call_sites.hpp"
#include "causality.hpp"
#include "shadow.hpp"
#include "simulation/engine.hpp"

namespace creek::scc_backend {

/// The causal clock of each core, and the call site of its next operation.
class program_points {
 public:
  program_points(int cores, engine& simulation)
      : simulation_(simulation), points_(static_cast<std::size_t>(cores)) {
    for (int i = 0; i < cores; ++i) {
      points_[static_cast<std::size_t>(i)].clock.begin(i, points_.size());
    }
  }

  [[nodiscard]] core_id running() const noexcept { return simulation_.running(); }
  /// Returns true if the run was aborted: unwinding leaves protocols in the middle.
  [[nodiscard]] bool aborted() const noexcept { return simulation_.failure().aborted(); }
  [[nodiscard]] causal_clock& clock(core_id core) noexcept { return points_[core.index()].clock; }
  /// Returns the running core's clock.
  [[nodiscard]] causal_clock& clock() noexcept { return clock(running()); }

  /// Sets the call site of the running core's next operation; see call_sites::above().
  void called_from(const void* return_address, const void* frame) {
    points_[running().index()].site = sites_.above(return_address, frame);
  }
  [[nodiscard]] const call_sites& sites() const noexcept { return sites_; }

  /// Returns the record of an access of the running core that takes effect at a time.
  [[nodiscard]] access_record access(byte_mask bytes, virtual_time when, bool word) const noexcept {
    const point& self = points_[running().index()];
    const std::uint32_t epoch = self.clock.epoch();
    return {bytes, running().value, epoch, epoch, self.site, when, word};
  }
  /// Returns the same of an access to whole lines now.
  [[nodiscard]] access_record access_now() const noexcept {
    return access(~byte_mask{0}, simulation_.now(), false);
  }

 private:
  struct point {
    causal_clock clock;
    site_id site = 0;
  };

  engine& simulation_;
  std::vector<point> points_;
  call_sites sites_;
};

}  // namespace creek::scc_backend
