// SPDX-License-Identifier: Apache-2.0
// Beginning what other threads hand in, resting, and giving up in a deadlock.
#include "intake.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

using ext::remote_cell;

void intake::send_messages() {
  while (!pending_.messages.empty()) {
    const outside_message first = std::move(pending_.messages.front());
    pending_.messages.pop_front();
    messages_.send(first.to, first.message->data, first.message->bytes);
    if (remote_cell* object = first.kept_object()) object->drop_handle();
    --pending_.active;  // as it is counted on its way now
  }
}

void intake::look() {
  outside_work::batch came = outside_.take();
  pending_.active += came.size();
  std::vector<task_worker*> woken;
  for (outside_message& each : came.messages) pending_.messages.push_back(std::move(each));
  for (ext::strand* each : came.strands) {
    auto& fiber = static_cast<task_fiber&>(*each);
    fiber.on->ready.push_back(&fiber);
    woken.push_back(fiber.on);
  }
  pending_.roots.insert(pending_.roots.end(), came.tasks.begin(), came.tasks.end());
  pending_.arrived.insert(pending_.arrived.end(), came.tasks.begin(), came.tasks.end());
  if (!came.tasks.empty() || !came.messages.empty()) woken.push_back(&workers_[0]);
  for (task_worker* each : woken) idle_.wake(*each);
}

void intake::rest() {
  switch (outside_.rest(pending_.suspended != 0, [this] { return deadlock(); })) {
    case outside_work::outcome::arrived:
      return look();
    case outside_work::outcome::closed:
      give_up();
      return workers_.chip().simulation().fibers().leave();
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

std::exception_ptr intake::deadlock() const {
  std::string report = "simulated chip: deadlock: tasks wait, and nothing is left that could run";
  for (const auto& each : workers_) {
    if (each->suspended == 0) continue;
    report +=
        "\n  core " + std::to_string(each->core.value) + ": " + std::to_string(each->suspended) +
        " suspended, clock at " +
        std::to_string(workers_.chip().simulation().cores().ended_at(each->core).femtoseconds /
                       1'000'000) +
        " ns";
  }
  return std::make_exception_ptr(error(std::error_code(EDEADLK, std::generic_category()), report));
}

/// Notifies the waiters; their strands here never go on. Called unlocked, and with outside_ closed:
/// a notified waiter may resume strands and submit continuations, and then submit() adds to
/// pending_.roots.
void intake::give_up() noexcept {
  messages_.objects().abandon();
  while (!pending_.roots.empty()) {
    ext::submitted_task* const each = pending_.roots.back();
    pending_.roots.pop_back();
    if (each->give_up != nullptr) each->give_up(each, outside_.closed_by());
  }
}

}  // namespace creek::scc_backend
