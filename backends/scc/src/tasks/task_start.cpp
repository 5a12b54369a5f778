// SPDX-License-Identifier: Apache-2.0
// Making and ending a task runtime: options checked, memory laid out, the driver started.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/execution_observer.hpp>

#include "checker/checker.hpp"
#include "task_runtime.hpp"
#include "work_span.hpp"

namespace creek::scc_backend {

namespace {

/// Counts fork() calls that led to this process: a runtime of another count has no driver here.
std::atomic<unsigned> fork_generation{0};

void forget_driver() {
  fork_generation.fetch_add(1, std::memory_order_relaxed);
  if (worker_set::driven_here() == nullptr) return;
  worker_set::drive(nullptr);
  execution_observer::exchange(nullptr);
  ext::set_foreign_scope(nullptr, nullptr);
}

void notice_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, &forget_driver);
  static_cast<void>(registered);
}

/// Called when the simulation itself fails: tasks keep their exceptions to themselves, and workers
/// cannot unwind. A bug of the runtime, a charge that no core can spend, or the end of time.
[[noreturn]] void end_process(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "creek: %s\n", failure.what());
  }
  std::abort();
}

[[noreturn]] void refuse(const std::string& what) {
  throw usage_error("scc backend: " + what);
}

scc checked(scc chosen) {
  notice_forks();
  chosen.machine.description.validate();
  require_crossing(chosen.machine.description, chosen.kernel_crossing);
  scheduler_options& options = chosen.options;
  const chip& on = chosen.machine.description;
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
  if (chosen.machine.seed != 0) refuse("the seed is options.seed; leave machine.seed zero");
  if (!chosen.machine.on_faults) {
    chosen.machine.on_faults = [](const std::vector<fault>& found) {
      std::ostringstream text;
      print(text, found);
      std::fputs(text.str().c_str(), stderr);
    };
  }
  if (options.pin) refuse("workers are simulated cores; leave pin off");
  if (options.stack_size < machine::min_stack || options.stack_size > machine::max_stack) {
    refuse("stack_size must be 16 KiB to 4 GiB");
  }
  if (options.deque_capacity == 0) options.deque_capacity = 10;
  if (options.deque_capacity == 1) refuse("deque_capacity must be at least 2");
  const std::size_t needed = task_deque::bytes_needed(options.deque_capacity) + memory::line_bytes;
  if (needed > on.mpb_bytes) {
    refuse("a deque of " + std::to_string(options.deque_capacity) + " tasks takes " +
           std::to_string(needed) + " bytes of message-passing memory; a core of chip '" + on.name +
           "' has " + std::to_string(on.mpb_bytes));
  }
  options.deque = deque_kind::mpb;
  return chosen;
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
          .messages_are_causal = chosen.options.messages != message_protocol::notification_vector,
          .mesh = std::move(mesh)};
}

}  // namespace

std::optional<virtual_time> simulated_now() {
  const worker_set* const driven = worker_set::driven_here();
  if (driven == nullptr) return std::nullopt;
  return driven->now_after_stretch();
}

task_runtime::task_runtime(scc chosen)
    : chosen_(checked(std::move(chosen))),
      // Workers may poll for long; rest() is what finds a deadlock here.
      chip_(chosen_.machine.description, chosen_.options.stack_size, virtual_time{},
            chosen_.machine.check),
      fork_generation_(fork_generation.load(std::memory_order_relaxed)) {
  set_traits(traits_of(chosen_));
  set_messages(messages_);
  set_bookkeeping(books_);
  for (unsigned i = 0; i < chosen_.options.workers; ++i) {
    workers_.add(std::make_unique<task_worker>(chip_, core_id{static_cast<int>(i)}));
  }
  for (const auto& each : workers_) queues_.lay_out(*each);
  if (chosen_.options.stall_limit != chosen_.options.stall_limit.zero()) find_stalls();
  chip_.computing().measure(chosen_.machine.cycles_a_host_second);
  chip_.memory().bulk().move_blocks_by(chosen_.machine.blocks);
  chip_.records().open(chosen_.machine.trace_file, chosen_.machine.heatmap_file,
                       chosen_.machine.records_may_be);
  chip_.simulation().fibers().keep_thread_state(this);
  set_policy(policy_.begin());
  try {
    driver_ = std::thread([this] { drive(); });
  } catch (const std::system_error& failure) {
    policy_.end();
    throw error(failure.code(), "simulated chip: cannot start the thread that drives it");
  }
}

task_runtime::~task_runtime() = default;

namespace {

/// A watch by which the running core looks at itself.
class virtual_stall_watch final : public ext::stall_watch {
 public:
  virtual_stall_watch(const scheduler_options& options, engine& simulation)
      : stall_watch(options, options.workers), simulation_(&simulation) {}
  void look() noexcept {
    const std::size_t core = simulation_->running().index();
    if (core < workers()) (void)look_at(static_cast<unsigned>(core));
  }

 private:
  std::chrono::nanoseconds now() const noexcept override {
    return std::chrono::nanoseconds{simulation_->now().femtoseconds / 1'000'000 + 1};
  }
  engine* simulation_;
};

}  // namespace

void task_runtime::find_stalls() {
  auto watch = std::make_unique<virtual_stall_watch>(chosen_.options, chip_.simulation());
  chip_.computing().when_time_passes(
      [](void* self) { static_cast<virtual_stall_watch*>(self)->look(); }, watch.get());
  find_stalls_by(std::move(watch));
}

bool task_runtime::lost_in_fork() const noexcept {
  return fork_generation_ != fork_generation.load(std::memory_order_relaxed);
}

/// Runs on the driver's thread: the simulation from its first cycle to its last.
void task_runtime::drive() noexcept {
  worker_set::drive(&workers_);
  chip_.simulation().failure().when_failing(&end_process);
  chip_.run(observer_, [this](core_id core) {
    if (core.index() < workers_.size()) begin(workers_[core.index()]);
  });
  worker_set::drive(nullptr);
  std::vector<fault> found = found_faults(chip_.memory().check(), chosen_.machine.on_faults);
  virtual_time ended;
  for (const auto& each : workers_) {
    ended = std::max(ended, chip_.simulation().cores().ended_at(each->core));
  }
  chip_.records().tally(ended);
  try {
    chip_.records().write(ended);
  } catch (...) {
    unwritten_ = std::current_exception();
  }
  if (chosen_.report != nullptr) {
    fill(*chosen_.report, ended);
    chosen_.report->faults = std::move(found);
  }
}

std::exception_ptr task_runtime::shut_down() noexcept {
  const ext::blocked_thread_mark waits;
  outside_.stop();
  if (driver_.joinable()) driver_.join();
  policy_.end();
  set_policy(nullptr);
  const std::exception_ptr untraced = write_trace();
  return unwritten_ ? unwritten_ : untraced;
}

void task_runtime::fill(task_report& report, virtual_time ended) {
  report = {};
  report.counters = counters();
  for (const auto& each : workers_) report.lock_waits += each->lock_waits;
  report.ended = ended;
  usage_report used = chip_.records().usage(ended);
  report.energy = used.total;
  if (used.accounts.size() > account_of_tasks.number) {
    report.tasks = used.accounts[account_of_tasks.number];
  }
  report.usage = std::move(used);
  report.memory_full = books_.memory_full();
  report.schedule = log_.hash();
}

counter_values task_runtime::counters() const {
  counter_values sum;
  for (const auto& each : workers_) sum += each->counters.snapshot();
  return sum;
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
