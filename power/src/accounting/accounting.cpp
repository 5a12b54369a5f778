// SPDX-License-Identifier: Apache-2.0
#include <creek/power/accounting.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <creek/core/energy.hpp>
#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>

#include "phase_log.hpp"
#include "worker_ledger.hpp"

namespace creek::power {

namespace {

using detail::ledger_entry;
using detail::phase_log;
using detail::stamp;
using detail::worker_ledger;

/// Search time of a worker if the policy leaves it to the backend, which does not report it: by
/// ticks, unless there are more workers than processors, and by the clock of the caller's meter.
constexpr std::chrono::microseconds search_by_ticks{100}, search_by_meter{20};

/// Infinite time, but short enough to be added to a time point.
constexpr std::chrono::hours for_ever{1000};

/// Line of an account before its joules are known.
struct weighed_line {
  account_line line;
  double weight = 0;
};

/// Divides `total` by weights. The largest line gets the rounding error, so that the sum, in the
/// order of the lines, is exactly the total.
void share_out(units::joules total, std::vector<weighed_line>& lines) {
  if (std::isnan(total.value) || lines.empty()) return;
  double whole = 0;
  for (const weighed_line& each : lines) whole += each.weight;
  const auto largest = std::max_element(
      lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.weight < b.weight; });
  units::joules rest = total;
  for (auto each = lines.begin(); each != lines.end(); ++each) {
    if (each == largest) continue;
    each->line.energy = whole > 0 ? each->weight / whole * total : units::joules{};
    rest -= each->line.energy;
  }
  largest->line.energy = rest;
}

std::vector<account_line> lines_of(std::vector<weighed_line>&& weighed) {
  std::vector<account_line> lines;
  for (weighed_line& each : weighed) lines.push_back(std::move(each.line));
  return lines;
}

}  // namespace

struct accounting::state {
  std::shared_ptr<power_policy> policy;
  host_model model;
  std::deque<worker_ledger> workers;  // a deque, as ledgers cannot be moved
  std::atomic<std::size_t> count{0};
  clock_control* clocks = nullptr;
  std::atomic<bool> metered{false};  // stamps are of the clock of the workers' meter
  std::mutex reading;
  std::atomic<stamp> began{0};  // also set by an event
  std::vector<units::seconds> cpu_before = phase_log::of_process().cpu_times();

  [[nodiscard]] bool in_metered_time() const noexcept {
    return metered.load(std::memory_order_relaxed);
  }
  [[nodiscard]] stamp here() noexcept;
  [[nodiscard]] stamp now_for_readers();
  [[nodiscard]] double seconds_a_unit() const noexcept {
    return in_metered_time() ? 1e-12 : 1e-9 * tick_clock::scale().ns_per_tick;
  }
  [[nodiscard]] stamp search_of(const idle_plan& plan) const noexcept;
  [[nodiscard]] std::vector<ledger_entry> entries();
  [[nodiscard]] std::vector<double> cpu_by_phase();
};

/// Returns an event's time, on its worker. The first event of a worker with a meter
/// switches to the meter's clock.
stamp accounting::state::here() noexcept {
  if (backend_meter::current() == nullptr) return detail::ticks_now();
  if (!in_metered_time()) {
    metered.store(true, std::memory_order_relaxed);
    began.store(0, std::memory_order_relaxed);
    for (worker_ledger& each : workers) each.forget(0, true);  // counts from another time base
    for (std::size_t i = 0; i < count; ++i) workers[i].begin(0, phase_log::of_process().now());
  }
  return detail::metered_now();
}

/// Returns the time for readers: without a meter, the latest time that the workers' meter has
/// reached.
stamp accounting::state::now_for_readers() {
  if (!in_metered_time()) return detail::ticks_now();
  stamp now = detail::metered_now();
  for (worker_ledger& each : workers) now = std::max(now, each.latest());
  return now;
}

stamp accounting::state::search_of(const idle_plan& plan) const noexcept {
  const std::chrono::nanoseconds usual = in_metered_time() ? search_by_meter : search_by_ticks;
  const std::chrono::nanoseconds search =
      plan.search.count() < 0 ? usual : std::min<std::chrono::nanoseconds>(plan.search, for_ever);
  return in_metered_time() ? 1000 * search.count()
                           : static_cast<stamp>(tick_clock::from_nanoseconds(search).count);
}

/// Returns a snapshot of all workers' entries.
std::vector<ledger_entry> accounting::state::entries() {
  const stamp now = now_for_readers();
  std::vector<ledger_entry> all;
  for (worker_ledger& worker : workers) {
    all.reserve(all.size() + worker_ledger::most_entries);  // not while the worker waits for us
    worker.read(now, in_metered_time(), [&](const ledger_entry& each) { all.push_back(each); });
  }
  return all;
}

namespace {

/// Data to be divided: workers' entries, CPU seconds by phase, and the factors that convert them to
/// seconds and weights.
struct snapshot {
  std::vector<ledger_entry> entries;
  std::vector<double> cpu;  ///< of the process, by phase
  double unit;              ///< seconds per unit of the entries' time
  double watts;             ///< draw during CPU time outside of all workers
};

/// Returns the CPU seconds in each phase that workers do not account for: those of other threads,
/// and of workers without tasks.
std::vector<double> cpu_elsewhere(const snapshot& of) {
  std::vector<double> elsewhere = of.cpu;
  for (const ledger_entry& each : of.entries) {
    if (each.phase < elsewhere.size()) elsewhere[each.phase] -= of.unit * (each.busy + each.polled);
  }
  for (double& each : elsewhere) each = std::max(0.0, each);
  return elsewhere;
}

std::vector<weighed_line> task_lines(const snapshot& of) {
  std::map<std::string, weighed_line> by_name;
  weighed_line rest{.line = {.name = detail::no_task, .busy = {}}};
  for (const ledger_entry& each : of.entries) {
    weighed_line& into = each.name == detail::no_task ? rest : by_name[each.name];
    into.line.busy += units::seconds{of.unit * each.busy};
    into.line.times += each.times;
    into.weight += of.unit * each.weight;
  }
  for (const double cpu : cpu_elsewhere(of)) rest.weight += of.watts * cpu;
  std::vector<weighed_line> lines;
  for (auto& [name, line] : by_name) {
    line.line.name = name;
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  lines.push_back(std::move(rest));
  return lines;
}

std::vector<weighed_line> phase_lines(const snapshot& of, const std::vector<std::string>& names) {
  const std::vector<double> elsewhere = cpu_elsewhere(of);
  std::vector<weighed_line> all(names.size());
  for (const ledger_entry& each : of.entries) {
    weighed_line& into = all[each.phase];
    into.line.busy += units::seconds{of.unit * each.busy};
    into.weight += of.unit * each.weight;
  }
  std::vector<weighed_line> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].line.name = names[i];
    if (i < elsewhere.size()) all[i].weight += of.watts * elsewhere[i];
    if (i == 0 || all[i].weight > 0) lines.push_back(std::move(all[i]));
  }
  return lines;
}

}  // namespace

/// Returns CPU seconds of the process by phase, since the account began; none by a meter's clock.
std::vector<double> accounting::state::cpu_by_phase() {
  const std::vector<units::seconds> cpu = phase_log::of_process().cpu_times();
  std::vector<double> since(cpu.size());
  if (in_metered_time()) return since;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    since[i] = (cpu[i] - (i < cpu_before.size() ? cpu_before[i] : units::seconds{})).value;
  }
  return since;
}

accounting::accounting(std::shared_ptr<power_policy> policy, const host_model& model)
    : state_(std::make_unique<state>()) {
  if (policy == nullptr) throw usage_error("accounting: a policy to forward events to is required");
  model.validate();
  state_->policy = std::move(policy);
  state_->model = model;
  state_->began = detail::ticks_now();
}

accounting::~accounting() = default;

std::string_view accounting::name() const noexcept {
  return state_->policy->name();
}

void accounting::begin(const power_site& site) {
  state_->policy->begin(site);
  const std::lock_guard alone(state_->reading);
  try {
    while (state_->workers.size() < site.workers) {
      state_->workers.emplace_back().model = &state_->model;
    }
  } catch (...) {
    state_->policy->end();
    throw;
  }
  state_->clocks = site.clocks;
  const auto phases = phase_log::of_process().now();
  // A meter's clock restarts at 0, wherever that of the previous one ended.
  if (state_->metered.exchange(false, std::memory_order_relaxed)) {
    for (worker_ledger& each : state_->workers) each.forget(0, true);
  }
  // An earlier runtime may have had more workers; they no longer exist and do not even sleep.
  state_->count = site.workers;
  for (std::size_t i = 0; i < site.workers; ++i) state_->workers[i].begin(state_->here(), phases);
}

void accounting::end() noexcept {
  {
    const std::lock_guard alone(state_->reading);
    const stamp now = state_->now_for_readers();
    for (std::size_t i = 0; i < state_->count; ++i) {
      state_->workers[i].end(now, state_->in_metered_time());
    }
    state_->clocks = nullptr;
  }
  state_->policy->end();
}

idle_plan accounting::worker_idle(unsigned worker) noexcept {
  const stamp now = state_->here();
  const idle_plan plan = state_->policy->worker_idle(worker);
  if (worker < state_->count) {
    state_->workers[worker].idle(now, state_->in_metered_time(), plan.how, state_->search_of(plan));
  }
  return plan;
}

void accounting::task_about_to_run(unsigned worker, const task_profile& task) noexcept {
  state_->policy->task_about_to_run(worker, task);
  if (worker < state_->count) {
    state_->workers[worker].task(state_->here(), state_->in_metered_time(), task.name,
                                 state_->clocks->clock(worker));
  }
}

unsigned accounting::tasks_ready(unsigned worker, unsigned count) noexcept {
  return state_->policy->tasks_ready(worker, count);
}

unsigned accounting::max_awake() const noexcept {
  return state_->policy->max_awake();
}

void accounting::restart() {
  const std::lock_guard alone(state_->reading);
  state_->began = state_->now_for_readers();
  state_->cpu_before = phase_log::of_process().cpu_times();
  for (worker_ledger& each : state_->workers) each.forget(state_->began, state_->in_metered_time());
}

energy_account accounting::account(const energy_figure& figure) const {
  const std::lock_guard alone(state_->reading);
  const snapshot now{.entries = state_->entries(),
                     .cpu = state_->cpu_by_phase(),
                     .unit = state_->seconds_a_unit(),
                     .watts = state_->model.core_computing({}).value};
  std::vector<weighed_line> tasks = task_lines(now);
  // Names are read after the entries, so that every entry's phase has one.
  std::vector<weighed_line> phases = phase_lines(now, phase_log::of_process().names());
  if (figure.available()) {
    share_out(figure.energy, tasks);
    share_out(figure.energy, phases);
  }
  return {lines_of(std::move(tasks)), lines_of(std::move(phases))};
}

core_activity accounting::activity() const {
  const std::lock_guard alone(state_->reading);
  const double unit = state_->seconds_a_unit();
  core_activity made;
  made.cores = static_cast<unsigned>(std::max<std::size_t>(1, state_->count));
  double known = 0, cycles = 0;
  for (const ledger_entry& each : state_->entries()) {
    made.computing += units::seconds{unit * each.busy};
    made.polling += units::seconds{unit * each.polled};
    known += each.clock_known;
    cycles += each.clock_busy;
  }
  made.wall = units::seconds{unit * static_cast<double>(state_->now_for_readers() - state_->began)};
  if (known > 0) made.clock = units::hertz{cycles / known};
  return made;
}

}  // namespace creek::power
