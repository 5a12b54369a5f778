// SPDX-License-Identifier: Apache-2.0
#include "runtime_options.hpp"

#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/messages/pair_ring.hpp>

#include "chip/machine.hpp"
#include "tasks/queues/task_memory.hpp"

namespace creek::scc_backend {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw usage_error("scc backend: " + what);
}

/// Writes the faults of the coherence checker to the standard error stream.
void print_faults(const std::vector<fault>& found) {
  std::ostringstream text;
  print(text, found);
  std::fputs(text.str().c_str(), stderr);
}

void check_workers(scheduler_options& options, const chip& on) {
  if (options.workers > static_cast<unsigned>(on.cores())) {
    refuse("chip '" + on.name + "' has " + std::to_string(on.cores()) + " cores, not " +
           std::to_string(options.workers));
  }
  if (options.workers == 0) options.workers = static_cast<unsigned>(on.cores());
  ext::check_serve_only(options);
  if (ext::serves_only(options, 0)) {
    refuse(
        "serve_only names core 0, where run() and what threads outside hand in begins; name "
        "others");
  }
}

void check_deque(scheduler_options& options, const chip& on) {
  if (options.deque_capacity == 0) options.deque_capacity = 10;
  if (options.deque_capacity == 1) refuse("deque_capacity must be at least 2");
  const std::size_t needed = task_deque::bytes_needed(options.deque_capacity) + memory::line_bytes;
  if (needed > on.mpb_bytes) {
    refuse("a deque of " + std::to_string(options.deque_capacity) + " tasks takes " +
           std::to_string(needed) + " bytes of message-passing memory; a core of chip '" + on.name +
           "' has " + std::to_string(on.mpb_bytes));
  }
  options.deque = deque_kind::mpb;
}

void check_messages(const scc& chosen) {
  if (chosen.options.messages != message_protocol::pair_ring) return;
  const message_layout wanted = messages_of(chosen);
  const int fit = pair_ring<task_memory>::max_members(wanted.room);
  if (wanted.members <= fit) return;
  refuse("a ring per pair (messages: pair) of " + std::to_string(wanted.members) +
         " workers takes " + std::to_string(pair_ring<task_memory>::bytes_needed(wanted.members)) +
         " bytes of each core's message-passing memory, where a deque of " +
         std::to_string(chosen.options.deque_capacity) + " tasks leaves " +
         std::to_string(wanted.room) + "; at most " + std::to_string(fit) +
         " workers fit; use fewer, a smaller deque_capacity or another protocol");
}

}  // namespace

scc checked(scc chosen) {
  const chip& on = chosen.machine.description;
  on.validate();
  require_crossing(on, chosen.kernel_crossing);
  scheduler_options& options = chosen.options;
  check_workers(options, on);
  if (chosen.machine.seed != 0) refuse("the seed is options.seed; leave machine.seed zero");
  if (!chosen.machine.on_faults) chosen.machine.on_faults = print_faults;
  if (options.pin) refuse("workers are simulated cores; leave pin off");
  if (options.stack_size < machine::min_stack || options.stack_size > machine::max_stack) {
    refuse("stack_size must be 16 KiB to 4 GiB");
  }
  check_deque(options, on);
  check_messages(chosen);
  return chosen;
}

message_layout messages_of(const scc& chosen) noexcept {
  const std::size_t used =
      memory::line_bytes + task_deque::bytes_needed(chosen.options.deque_capacity);
  return {.protocol = chosen.options.messages,
          .members = static_cast<int>(chosen.options.workers),
          .room = chosen.machine.description.mpb_bytes - used};
}

ext::executor_traits traits_of(const scc& chosen) {
  std::vector<ext::mesh_place> mesh;
  for (int core = 0; core < static_cast<int>(chosen.options.workers); ++core) {
    const mesh_place tile = chosen.machine.description.place(core_id{core});
    mesh.push_back({tile.x, tile.y});
  }
  return {.backend_name = "scc",
          .worker_count = chosen.options.workers,
          .runs_repeat = true,
          .messages_are_causal = chosen.options.messages != message_protocol::notification_vector &&
                                 chosen.options.messages != message_protocol::pair_ring,
          .has_own_time = true,
          .shares_memory = false,
          .mesh = std::move(mesh)};
}

}  // namespace creek::scc_backend
