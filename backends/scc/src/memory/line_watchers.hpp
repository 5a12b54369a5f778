// SPDX-License-Identifier: Apache-2.0
// Cores that poll for a store to a line, and are parked meanwhile.
#pragma once

#include <vector>

#include "chip/mesh_network.hpp"
#include "chip_memory.hpp"
#include "line_buffers.hpp"
#include "simulation/engine.hpp"
#include "simulation/time_limits.hpp"
#include "zeroed_memory.hpp"

namespace creek::scc_backend {

/// A core is in the list of at most one line. A store wakes a parked core for the look, of a loop
/// that polls in the rhythm of its last look, that would read the stored word first. A core that
/// is asleep cannot look, and stays in its list.
class line_watchers {
 public:
  line_watchers(const chip& on, engine& simulation, const chip_memory& bytes, time_limits& limits)
      : simulation_{simulation},
        bytes_{bytes},
        limits_{limits},
        first_(bytes.size() / line_size),
        cores_(static_cast<std::size_t>(on.cores())) {}

  /// When the next look begins, how long each takes until the next, and after what part of it the
  /// word is read.
  struct rhythm {
    virtual_time next_look;
    virtual_time period;
    virtual_time offset;
  };
  /// Sets the rhythm in which the running core polls.
  void polls(const rhythm& looks) noexcept { here().looks = looks; }
  /// Puts the running core on the list of the line at `at`; it must be on none.
  void watch(std::size_t at) noexcept;
  /// Begins or ends that every store to the running core's MPB wakes it.
  void watch_own_memory(bool watches) noexcept { here().awaits_any = watches; }
  void set_asleep(bool asleep) noexcept { here().asleep = asleep; }
  /// Takes a core off its list, to be woken by something else.
  void forget(core_id core) noexcept;

  /// Wakes the cores that would see the word that was stored at `when`.
  void stored(std::size_t at, virtual_time when);
  /// Lets a core that is parked while polling look once more.
  void look_again(core_id core, virtual_time when);
  /// Returns the number of stores to a core's MPB, by any core.
  std::uint64_t stores_to(core_id core) const noexcept { return cores_[core.index()].stores; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct waiting_core {
    rhythm looks;
    std::uint64_t stores = 0;
    bool asleep = false;
    bool awaits_any = false;
    std::int32_t next = 0;    ///< next on the same line: 1 + core, 0 if this one is last
    std::size_t line = none;  ///< the line that it is parked for
  };
  waiting_core& here() noexcept { return cores_[simulation_.running().index()]; }
  void wake_at_look(core_id core, virtual_time when);

  engine& simulation_;
  const chip_memory& bytes_;
  time_limits& limits_;
  zeroed_memory<std::int32_t> first_;  ///< per line: 1 + first core parked for it, 0 if none
  std::vector<waiting_core> cores_;
};

}  // namespace creek::scc_backend
