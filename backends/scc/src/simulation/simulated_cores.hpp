// SPDX-License-Identifier: Apache-2.0
// The clocks and states of the simulated cores, and the report of what each of them waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/units.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// A parked core waits for the thing that `waits_for` and `waits_at` name; a core that runs or is
/// ready last looked for it in vain. Null: it has never looked for anything.
struct simulated_core {
  virtual_time clock;
  bool parked = false;
  bool timed = false;  ///< parked until a time: it has an event in the queue
  bool ended = false;
  const char* waits_for = nullptr;
  std::uint64_t waits_at = 0;
};

/// All cores, by number; their addresses do not change. The engine changes their states.
class simulated_cores {
 public:
  explicit simulated_cores(int cores) : cores_(static_cast<std::size_t>(cores)) {}

  int size() const noexcept { return static_cast<int>(cores_.size()); }
  simulated_core& operator[](int core) noexcept { return cores_[static_cast<std::size_t>(core)]; }

  /// Sets when the core's body begins; call before the run. Without it the core begins at zero.
  void begin_at(core_id core, virtual_time time) noexcept { cores_[core.index()].clock = time; }
  /// Returns when the core's body returned.
  virtual_time ended_at(core_id core) const noexcept { return cores_[core.index()].clock; }
  bool is_parked(core_id core) const noexcept { return cores_[core.index()].parked; }
  bool have_all_ended() const noexcept;

  /// Sets the text about a core, after its number, in a report; empty: none.
  void describe_by(std::function<std::string(core_id)> describe) {
    describe_ = std::move(describe);
  }
  /// Returns `what`, then the state of each core that has not ended, one line per core.
  std::string report(const std::string& what) const;

 private:
  std::vector<simulated_core> cores_;
  std::function<std::string(core_id)> describe_;
};

}  // namespace creek::scc_backend
