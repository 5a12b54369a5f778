// SPDX-License-Identifier: Apache-2.0
// The order that test-and-set registers, counters and interrupts make between cores.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <creek/core/memory.hpp>

#include "program_points.hpp"

namespace creek::scc_backend {

/// Notified of the operations of the running core when they take effect: one that publishes keeps
/// the core's announcement, and one that observes learns what was announced last.
class sync_order {
 public:
  sync_order(int cores, program_points& points)
      : points_(points),
        registers_(static_cast<std::size_t>(cores)),
        counters_(2 * registers_.size()),
        raised_(registers_.size()) {}

  void tried_register(core_id id, bool won) {
    register_state& of = registers_[id.index()];
    // A core that finds the register taken learns something, too: that a core has taken it.
    points_.clock().learn(won ? of.cleared : of.taken);
    if (won) of.taken = points_.clock().announce();
  }
  void cleared_register(core_id id) { registers_[id.index()].cleared = points_.clock().announce(); }
  void incremented(counter_id id) {
    announcement& last = counters_[static_cast<std::size_t>(id.value)];
    points_.clock().learn(last);
    last = points_.clock().announce();
  }
  void set(counter_id id) {
    counters_[static_cast<std::size_t>(id.value)] = points_.clock().announce();
  }
  /// Notified that the running core raised a pin of another one.
  void raised(core_id to, int pin) {
    raised_[to.index()][static_cast<std::size_t>(pin)].push_back(points_.clock().announce());
  }
  /// Notified that the running core took its interrupt.
  void took(int pin) {
    auto& news = raised_[points_.running().index()][static_cast<std::size_t>(pin)];
    for (const announcement& one : news) points_.clock().learn(one);
    news.clear();
  }

 private:
  struct register_state {
    announcement taken;
    announcement cleared;
  };

  program_points& points_;
  std::vector<register_state> registers_;
  std::vector<announcement> counters_;
  std::vector<std::array<std::vector<announcement>, 2>> raised_;  ///< by core and pin, not taken
};

}  // namespace creek::scc_backend
