// SPDX-License-Identifier: Apache-2.0
// Finds out whether a scheduler that was asked to stop has anything left to do.
#include "shutdown.hpp"

#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::host_backend {

bool shutdown::is_quiet() noexcept {
  return waker_.state().sleepers() == workers_.consumers() && workers_.servers_sleep() &&
         !any_suspended() && !messages_.any_under_way();
}

void shutdown::try_finish() noexcept {
  const std::uint64_t before = sleeps_ended_.load(std::memory_order_seq_cst);
  const auto still = [&] { return sleeps_ended_.load(std::memory_order_seq_cst) == before; };
  if (!is_quiet()) return;
  // A worker called before the first look has taken its message and will fall asleep again.
  if (!still() || home_.messages().objects().end_all()) return;
  // Another worker that is here found objects, and their workers end them just now.
  if (!still()) return;
  home_.messages().objects().let_go();
  finish();
}

}  // namespace creek::host_backend
