// SPDX-License-Identifier: Apache-2.0
// Making and ending a task runtime.
#include "task_runtime.hpp"

#include <memory>
#include <utility>

#include <creek/core/measuring/profile.hpp>

#include "tasks/driver/virtual_stall_watch.hpp"

namespace creek::scc_backend {

std::optional<virtual_time> simulated_now() {
  const worker_set* const driven = worker_set::driven_here();
  if (driven == nullptr) return std::nullopt;
  return driven->now_after_stretch();
}

task_runtime::task_runtime(scc chosen)
    : chosen_(checked(std::move(chosen))),
      // Workers may poll for long; rest() is what finds a deadlock here.
      chip_(chosen_.machine.description, chosen_.options.stack_size, virtual_time{},
            chosen_.machine.check) {
  warn_of_no_profile("scc");
  set_traits(traits_of(chosen_));
  set_messages(messages_);
  set_bookkeeping(books_);
  for (const auto& each : workers_) queues_.lay_out(*each);
  find_stalls_by(make_stall_watch(chosen_.options, chip_));
  chip_.computing().measure(chosen_.machine.cycles_a_host_second);
  chip_.memory().bulk().move_blocks_by(chosen_.machine.blocks);
  chip_.records().open(chosen_.machine.trace_file, chosen_.machine.heatmap_file,
                       chosen_.machine.records_may_be);
  set_policy(idle_.policy().begin());
  try {
    driver_.start([this](task_worker& worker) { loop_.begin(worker); });
  } catch (const error&) {
    idle_.policy().end();
    throw;
  }
}

int task_runtime::worker_index() const noexcept {
  if (ext::current_executor() != this) return -1;
  return workers_.here().core.value;
}

std::exception_ptr task_runtime::shut_down() noexcept {
  const ext::blocked_thread_mark waits;
  outside_.stop();
  const std::exception_ptr unwritten = driver_.join();
  idle_.policy().end();
  set_policy(nullptr);
  const std::exception_ptr untraced = write_trace();
  return unwritten ? unwritten : untraced;
}

void task_runtime::trace_to(const std::string& file) {
  trace::session& session =
      open_trace(file, {.process_name = "creek scc", .base = trace::time_base::virtual_fs});
  for (const auto& each : workers_) {
    each->track = &session.add_track("core " + std::to_string(each->core.value));
  }
}

}  // namespace creek::scc_backend

namespace creek {

std::unique_ptr<ext::backend> scc::make() const {
  return std::make_unique<scc_backend::task_runtime>(*this);
}

}  // namespace creek
