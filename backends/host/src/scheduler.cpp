// SPDX-License-Identifier: Apache-2.0
// Begins and ends the host scheduler.
#include "scheduler.hpp"

#include <utility>

#include <creek/core/measuring/trace.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/host.hpp>

namespace creek::host_backend {

[[gnu::cold]] scheduler::scheduler(scheduler_options options)
    : workers_(std::move(options), *this), work_(workers_), loop_(*this, workers_, work_) {
  prepare_heavy_fence();
  set_traits(
      {.backend_name = "host", .worker_count = workers_.size(), .messages_are_causal = false});
  set_messages(*this);
  set_policy(work_.waking().governor().policy());
  find_stalls_by(ext::make_stall_watch(workers_.options()));
  profiler_.begin(workers_);
  quit_.emplace(*this, workers_.options().dump_on_sigquit);
  loop_.start();
}

[[gnu::cold]] std::exception_ptr scheduler::shut_down() noexcept {
  loop_.shut_down();
  work_.waking().governor().end();
  set_policy(nullptr);
  const std::exception_ptr unprofiled = profiler_.end(workers_);
  const std::exception_ptr untraced = write_trace();
  return unprofiled ? unprofiled : untraced;
}

/// Lets the worker handle the messages that have piled up, if a strand sends without waiting.
void scheduler::yield() noexcept {
  worker& here = worker_set::caller();
  if (!loop_.messages().is_piled_up(here)) return;
  // Handlers of the messages that are handled meanwhile do not yield, too: they would all be on
  // stacks of their own. A strand that handles a message stays on its worker.
  const bool handles_message = fiber_of(ext::current_stack)->bound;
  if (handles_message && std::exchange(here.handler_yields, true)) return;
  ext::wait_behind_others(*this);
  if (handles_message) here.handler_yields = false;
}

/// A strand that handles a message itself keeps others waiting: calls of one object do not begin
/// in the middle of another.
bool scheduler::has_messages() noexcept {
  message_service& messages = loop_.messages();
  const fiber& self = *fiber_of(ext::current_stack);
  return messages.in_use() && !self.bound && messages.any_for(*self.on);
}

counter_values scheduler::counters() const {
  counter_values sum = workers_.counters();
  // In a child of fork() a worker's lock may be held for ever.
  if (!lost_in_fork()) sum[counter::inline_runs] += loop_.fibers().inline_runs();
  return sum;
}

}  // namespace creek::host_backend

namespace creek {

std::unique_ptr<ext::backend> host::make() const {
  return std::make_unique<host_backend::scheduler>(options);
}

}  // namespace creek
