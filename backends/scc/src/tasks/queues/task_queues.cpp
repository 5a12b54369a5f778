// SPDX-License-Identifier: Apache-2.0
// Deques: laid out, filled, searched.
#include "task_queues.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace creek::scc_backend {

namespace {

/// Fill the record, test for room; an estimate, see worker_loop.cpp.
constexpr cycles making_a_task{40};
/// Between two looks of a search: choose the victim, compare, branch. An estimate.
constexpr cycles choosing_a_victim{15};
/// Other workers looked at before a worker looks at its own queues again.
constexpr unsigned looks_in_a_row = 16;
/// Tasks that a worker keeps before it shares: one to run next and one more.
constexpr std::size_t enough = 2;

}  // namespace

void task_queues::lay_out(task_worker& worker) {
  worker.event = worker.memory.at(worker.core, 0).as<word>();
  std::size_t used = memory::line_bytes;
  const std::size_t capacity = options_.deque_capacity;
  const auto place = worker.memory.at(worker.core, used);
  if (options_.scheduler != scheduler_kind::sharing) {
    worker.tasks.emplace(worker.core, place, capacity);
    used += task_deque::bytes_needed(capacity);
  } else if (worker.core.value == 0) {
    shared_.emplace(worker.core, place, capacity);
    used += task_deque::bytes_needed(capacity);
  }
  worker.pool = std::make_shared<line_pool>(used, worker.memory.mpm_bytes() - used);
  order_victims(worker);
}

void task_queues::reset(task_worker& worker) const {
  if (worker.tasks) worker.tasks->reset(worker.memory);
  if (shared_ && worker.core.value == 0) shared_->reset(worker.memory);
}

/// Computes the cost of looking at each other worker once. If the scheduler asks for it, sorts the
/// others by rising distance. Those equally far away begin at a different one for each worker.
void task_queues::order_victims(task_worker& worker) {
  const chip& on = workers_.chip().description();
  const auto hops = [&](unsigned other) {
    return chip::hops(on.place(worker.core), on.place(core_id{static_cast<int>(other)}));
  };
  worker.serves_only = ext::serves_only(options_, static_cast<unsigned>(worker.core.value));
  if (worker.serves_only) return;  // it looks at no other worker
  const cycles look = 2 * (on.costs.uc_read + on.costs.mpb_access) + cycles{15};
  if (shared_) {
    worker.round_cycles = look;
    worker.round_mesh_cycles = 2 * hops(0) * on.costs.hop_round_trip;
    return;
  }
  const auto workers = static_cast<unsigned>(workers_.size());
  const bool nearest_first = options_.scheduler == scheduler_kind::stealing_latency;
  for (unsigned i = 1; i < workers; ++i) {
    const unsigned other = (static_cast<unsigned>(worker.core.value) + i) % workers;
    if (nearest_first) worker.near_first.push_back(other);
    worker.round_cycles = worker.round_cycles + look;
    worker.round_mesh_cycles = worker.round_mesh_cycles + 2 * hops(other) * on.costs.hop_round_trip;
  }
  const auto distance = [&](unsigned other) {
    const bool same_tile =
        static_cast<int>(other) / on.cores_per_tile == worker.core.value / on.cores_per_tile;
    return same_tile ? -1 : hops(other);
  };
  std::stable_sort(worker.near_first.begin(), worker.near_first.end(),
                   [&](unsigned a, unsigned b) { return distance(a) < distance(b); });
}

/// Puts a task where it will be found. Returns false if the deque is full.
bool task_queues::put(task_worker& worker, const task_record& made) {
  worker.memory.charge(making_a_task);
  // Counted first: a thief may have run it before this core's last access is done.
  ++pending_.active;
  if (!shared_) {
    ++pending_.queued;
    if (!worker.tasks->push(worker.memory, made)) {
      --pending_.queued;
      --pending_.active;
      return false;
    }
    idle_.wake_takers();
  } else {
    creek::charge(work::byte_copied, sizeof made);
    worker.surplus.push_back(made);
    share_surplus(worker);
  }
  worker.counters.add(counter::spawns);
  return true;
}

/// Work sharing: a worker with more than enough must share while there is room.
void task_queues::share_surplus(task_worker& worker) {
  while (worker.surplus.size() > enough && workers_.size() > 1) {
    ++pending_.queued;
    const task_record oldest = worker.surplus.front();
    if (!shared_->put(worker.memory, oldest)) {
      --pending_.queued;
      return;
    }
    worker.surplus.pop_front();
    idle_.wake_takers();
  }
}

/// Takes the branch out of its maker's deque, from under younger tasks if there are any: those
/// stay, for their waiter. Returns false if another worker has the branch.
bool task_queues::retake(task_worker& worker, forked_branch& branch) {
  bool found = false;
  if (shared_) {
    const auto mine = std::find_if(worker.surplus.rbegin(), worker.surplus.rend(),
                                   [&](const task_record& each) { return each.branch == &branch; });
    found = mine != worker.surplus.rend();
    if (found) worker.surplus.erase(std::next(mine).base());
  } else {
    std::vector<task_record> younger;
    task_record newest;
    while (!branch.taken && !found && worker.tasks->pop_newest(worker.memory, newest)) {
      found = newest.branch == &branch;
      if (!found) younger.push_back(newest);
    }
    for (; !younger.empty(); younger.pop_back()) {
      // There is room: this many tasks have just been taken out.
      if (!worker.tasks->push(worker.memory, younger.back())) std::abort();
    }
    if (found) --pending_.queued;
  }
  if (found) {
    branch.taken = true;
    --pending_.active;
  }
  return found;
}

bool task_queues::take_own(task_worker& worker, task_record& task) {
  if (!shared_) {
    if (!worker.tasks->pop_newest(worker.memory, task)) return false;
    --pending_.queued;
    return true;
  }
  if (worker.surplus.empty()) return false;
  share_surplus(worker);
  creek::charge(work::byte_copied, sizeof task);
  task = worker.surplus.back();
  worker.surplus.pop_back();
  return true;
}

/// Searches the rest of a round, or a part of it. The simulation knows when no deque has a task,
/// and does not carry out looks that would find nothing: idle() lets that time pass.
bool task_queues::steal_one(task_worker& worker, task_record& task) {
  if (workers_.size() < 2) return false;
  const unsigned in_a_round = shared_ ? 1 : static_cast<unsigned>(workers_.size()) - 1;
  for (unsigned looks = 0; looks < looks_in_a_row && pending_.queued > 0 && worker.ready.empty();
       ++looks) {
    if (worker.attempt >= in_a_round) {
      worker.attempt = 0;
      if (worker.rests) {
        worker.rest = task_worker::longer(worker.rest);
        worker.memory.pause(worker.rest);
        return false;
      }
    }
    const steal_result result = try_victim(worker, task);
    if (result == steal_result::taken) return true;
    ++worker.attempt;
  }
  return false;
}

steal_result task_queues::try_victim(task_worker& worker, task_record& task) {
  worker.memory.charge(choosing_a_victim);
  worker.counters.add(counter::steals_tried);
  const unsigned victim = shared_ ? 0 : pick_victim(worker);
  const steal_result result = shared_ ? shared_->take(worker.memory, task)
                                      : workers_[victim].tasks->steal_oldest(worker.memory, task);
  if (result != steal_result::taken) return result;
  --pending_.queued;
  worker.last_victim = victim;
  worker.counters.add(counter::steals_won);
  log_.note(worker, step::steal, victim);
  return result;
}

unsigned task_queues::pick_victim(task_worker& worker) const {
  const auto self = static_cast<unsigned>(worker.core.value);
  const scheduler_kind how = options_.scheduler;
  if (how == scheduler_kind::stealing_latency) {
    return worker.near_first[worker.attempt % worker.near_first.size()];
  }
  if (how == scheduler_kind::stealing_last_victim && worker.attempt == 0 &&
      worker.last_victim != self) {
    return worker.last_victim;
  }
  const auto others = static_cast<unsigned>(workers_.size()) - 1;
  const auto choice = static_cast<unsigned>(drawn(options_.seed, self, worker.searches++) % others);
  return choice < self ? choice : choice + 1;
}

}  // namespace creek::scc_backend
