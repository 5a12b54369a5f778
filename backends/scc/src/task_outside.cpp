// SPDX-License-Identifier: Apache-2.0
// Work from threads outside the simulation: begun by the first core; and the end of a runtime.
#include <cerrno>

#include <creek/core/error.hpp>

#include "task_runtime.hpp"

namespace creek::scc_backend {

using detail::remote_cell;

/// Called by the first core, in its loop.
void task_runtime::send_from_outside() {
  while (!pending_.messages.empty()) {
    const outside_message first = std::move(pending_.messages.front());
    pending_.messages.pop_front();
    messages_.send(first.to, first.message->data, first.message->bytes);
    if (remote_cell* object = first.kept_object()) object->drop_handle();
    --pending_.active;  // as it is counted on its way now
  }
}

/// Looks for tasks from outside. While none runs, the driver looks only when it rests: so a thread
/// that calls run() again and again finds the simulation in the same state, however fast it is.
void task_runtime::look_outside() {
  outside_work::batch came = outside_.take();
  pending_.active += came.size();
  std::vector<task_worker*> woken;
  for (outside_message& each : came.messages) pending_.messages.push_back(std::move(each));
  for (detail::strand* each : came.strands) {
    auto& fiber = static_cast<task_fiber&>(*each);
    fiber.on->ready.push_back(&fiber);
    woken.push_back(fiber.on);
  }
  pending_.roots.insert(pending_.roots.end(), came.tasks.begin(), came.tasks.end());
  pending_.arrived.insert(pending_.arrived.end(), came.tasks.begin(), came.tasks.end());
  if (!came.tasks.empty() || !came.messages.empty()) woken.push_back(&workers_[0]);
  for (task_worker* each : woken) idle_.wake(*each);
}

/// Called when nothing is left to do: the whole simulation stands still, its time too, and its
/// thread sleeps until something comes from outside.
void task_runtime::rest() {
  switch (outside_.rest(pending_.suspended != 0, [this] { return deadlock(); })) {
    case outside_work::outcome::arrived:
      return look_outside();
    case outside_work::outcome::closed:
      give_up();
      return chip_.simulation().leave_unfinished();
    case outside_work::outcome::stopped:
      break;
  }
  ++pending_.active;  // sending lets others run, who must not rest
  const bool any = messages_.objects().end_all();
  --pending_.active;
  if (any) return;
  messages_.objects().let_go();
  pending_.finished = true;
  idle_.wake_all();
}

std::exception_ptr task_runtime::deadlock() {
  std::string report = "simulated chip: deadlock: tasks wait, and nothing is left that could run";
  for (const auto& each : workers_) {
    if (each->suspended == 0) continue;
    report += "\n  core " + std::to_string(each->core.value) + ": " +
              std::to_string(each->suspended) + " suspended, clock at " +
              std::to_string(chip_.simulation().ended_at(each->core).femtoseconds / 1'000'000) +
              " ns";
  }
  return std::make_exception_ptr(error(std::error_code(EDEADLK, std::generic_category()), report));
}

/// Notifies the waiters; their strands here never go on. Called unlocked, and with outside_ closed:
/// a notified waiter may resume strands and submit continuations, and then submit() adds to
/// pending_.roots.
void task_runtime::give_up() noexcept {
  messages_.objects().forsake();
  while (!pending_.roots.empty()) {
    detail::submitted_task* const each = pending_.roots.back();
    pending_.roots.pop_back();
    if (each->give_up != nullptr) each->give_up(each, outside_.closed_by());
  }
}

std::exception_ptr task_runtime::shut_down() noexcept {
  const detail::blocked_thread_mark waits;
  outside_.stop();
  if (driver_.joinable()) driver_.join();
  policy_.end();
  set_policy(nullptr);
  const std::exception_ptr untraced = write_trace();
  return unwritten_ ? unwritten_ : untraced;
}

}  // namespace creek::scc_backend
