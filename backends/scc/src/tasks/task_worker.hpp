// SPDX-License-Identifier: Apache-2.0
// A worker: a simulated core, the stack it is on, its deque, and its private data.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <creek/core/measuring/counters.hpp>
#include <creek/core/measuring/trace.hpp>
#include <creek/core/threads/stack_switch.hpp>
#include <creek/tasking/ext/remote_cell.hpp>

#include "simulation/split_mix.hpp"
#include "tasks/pools/line_pool.hpp"
#include "tasks/queues/task_memory.hpp"

namespace creek::scc_backend {

class worker_stacks;
struct task_worker;

/// A stack on which a worker runs its loop and tasks. It belongs to one core for ever, as private
/// memory does: a task that has begun does not move.
struct task_fiber : ext::strand {
  switch_context* context = nullptr;
  task_worker* on = nullptr;
  ext::task_scope* scope = nullptr;  ///< scope of the task that waits on it
};

/// A fiber that the runtime has mapped; each core's first is the engine's.
struct mapped_fiber : task_fiber, switch_context {
  const worker_stacks* owner = nullptr;
  mapped_fiber() = default;
  mapped_fiber(const mapped_fiber&) = delete;
  mapped_fiber& operator=(const mapped_fiber&) = delete;
  ~mapped_fiber();
};

/// When a waiting strand goes on at the latest; lies in the frame of its wait.
struct strand_deadline {
  ext::wait_limit& limit;
  bool is_over = false;
};

/// The second half of a fork; lies in the frame of its maker.
struct forked_branch {
  void (*run)(void*) noexcept;
  void* argument;
  bool taken = false;  ///< out of the deque: its thief or its maker runs it
  bool ended = false;
  ext::strand* waiter = nullptr;
  const pool_lines* place = nullptr;  ///< result and flag, in the maker's memory
};

/// Returns a random number for a core, as a function of its position in the core's sequence:
/// skipping ahead costs nothing.
inline std::uint64_t drawn(std::uint64_t seed, std::uint64_t core,
                           std::uint64_t position) noexcept {
  return split_mix((seed + 1) * 0xbf58476d1ce4e5b9U + (core << 48), position);
}

struct task_worker {
  task_worker(machine& on, core_id id) : core(id), memory(on, id, lock_waits) {}

  /// Time that a worker without work rests between rounds: 1 us to 15 us at 533 MHz, well below the
  /// length of tasks that are worth stealing.
  static constexpr cycles shortest_rest{512};
  static constexpr cycles longest_rest{8192};
  static cycles longer(cycles rest) noexcept {
    return std::clamp(2 * rest, shortest_rest, longest_rest);
  }

  /// Returns whether a strand's wait is over at the time `now`, at the latest.
  bool is_any_wait_over(virtual_time now) const noexcept {
    return !deadlines.empty() && deadlines.begin()->first <= now;
  }

  core_id core;
  bool serves_only = false;  ///< takes no tasks but those that its calls have made
  std::uint64_t lock_waits = 0;
  task_memory memory;
  mpm_ptr<word> event;  ///< nonzero: something that a strand of this core waits for has happened
  std::optional<task_deque> tasks;       ///< work stealing
  std::deque<task_record> surplus;       ///< work sharing: in private memory, newest at the back
  std::shared_ptr<line_pool> pool;       ///< the rest of the message-passing memory
  task_fiber native;                     ///< the engine's stack of this core
  task_fiber* current = &native;         ///< the stack that it is on
  std::vector<task_fiber*> idle_fibers;  ///< their loops may be continued
  std::vector<std::unique_ptr<mapped_fiber>> fibers;
  std::deque<task_fiber*> ready;  ///< strands whose waits are over
  unsigned suspended = 0;         ///< number of strands that wait
  ext::message_queue kept;        ///< messages that came while others were handled or sent
  bool knows_board = false;       ///< it knows that messages may be sent
  unsigned letters = 0;           ///< messages under way to this core, or kept
  /// Deadlines of strands that wait for a limited time.
  std::multimap<virtual_time, strand_deadline*> deadlines;

  // Searching.
  std::vector<unsigned> near_first;  ///< other workers, by hops; stealing_latency only
  cycles round_cycles{};             ///< core cycles of looking at all others once, in vain
  cycles round_mesh_cycles{};        ///< mesh cycles of the same
  std::uint64_t searches = 0;        ///< attempts so far: with the seed, the random choices
  unsigned attempt = 0;              ///< number of the attempt in the round
  unsigned last_victim = 0;
  cycles rest{};  ///< rest before the next round
  bool parked = false;
  bool rests = true;    ///< it rests between rounds: it does not poll
  bool asleep = false;  ///< its bit is written: wake it by an interrupt

  worker_counters counters;
  std::atomic<trace::track*> track{nullptr};
};

}  // namespace creek::scc_backend
