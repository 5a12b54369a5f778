// SPDX-License-Identifier: Apache-2.0
// Finds work for a worker that has none.
#pragma once

#include "found_work.hpp"
#include "messages/message_service.hpp"
#include "ready_work.hpp"

namespace creek::host_backend {

/// Looks at the places where work may be: what the worker alone can do, its own ready strands,
/// submitted tasks, parked strands, then the deques and ready strands of others. A worker that
/// serves only takes bound strands, messages, and tasks of the strands that it parked itself: it
/// listed those itself, so it need not be woken for them. A search never waits, except for short
/// locks; work that it returns is the caller's.
class work_search {
 public:
  work_search(worker_set& workers, ready_work& work, message_service& messages) noexcept
      : workers_(workers), work_(work), messages_(messages) {}

  /// Looks everywhere once, but for tasks of low priority; `ask` asks victims that have nothing
  /// shared to share.
  found_work everywhere(worker& self, bool ask) noexcept { return look(self, ask, false, true); }
  /// Does the same, but for messages: there may be no end of these.
  found_work beside_messages(worker& self, bool ask) noexcept {
    return look(self, ask, false, false);
  }
  /// Looks everywhere and asks, then takes a task of low priority.
  found_work at_last(worker& self) noexcept;
  /// Returns a task of low priority if there is no other work, or `at_any_rate`.
  found_work of_low_priority(bool at_any_rate) noexcept;
  /// Returns what goes before the tasks of the worker's own stack while there are submitted tasks
  /// that are not of normal priority.
  found_work before_own(worker& self) noexcept;
  /// Returns a strand that continues on `self`, or a submitted task.
  found_work without_stealing(worker& self) noexcept { return without_stealing(self, false); }
  /// Returns work that no other worker can do: strands that stay here, and messages.
  found_work for_itself_alone(worker& self) noexcept;

  /// Counts the work that a sleeping worker would miss, up to `enough`. Zero is exact behind a
  /// heavy fence.
  unsigned count_work(unsigned enough) noexcept;
  bool any_work() noexcept { return count_work(1) != 0; }
  /// Shares the private tasks of owners that do not answer. Returns true if any was shared.
  bool force_victims(worker& self) noexcept;

 private:
  found_work look(worker& self, bool ask, bool urgent_last, bool for_messages) noexcept;
  found_work without_stealing(worker& self, bool urgent_last) noexcept;
  unsigned count_work_but_low(unsigned enough) noexcept;
  found_work from_victim(worker& self, unsigned victim, bool ask) noexcept;
  found_work from_parked(worker& self, bool ask) noexcept;

  worker_set& workers_;
  ready_work& work_;
  message_service& messages_;
};

}  // namespace creek::host_backend
