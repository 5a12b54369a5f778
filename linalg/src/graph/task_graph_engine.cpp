// SPDX-License-Identifier: Apache-2.0
#include "task_graph_engine.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <creek/core/error.hpp>

#include "graph/records/task_links.hpp"

namespace creek::linalg::detail {

namespace {

/// Window used with a single worker.
constexpr std::size_t enough_for_one = 256;

/// Fills in what does not depend on the graph.
void fill(graph_task& task, const task_info& info, std::uint64_t number) noexcept {
  task.successors.store(nullptr, std::memory_order_relaxed);
  task.pending.store(linking, std::memory_order_relaxed);
  task.home.store(-1, std::memory_order_relaxed);
  task.poisoned.store(false, std::memory_order_relaxed);
  task.failed = false;
  task.commutes = task.has_turns = false;
  task.number = number;
  task.found_by = graph_task::no_number;  // numbers restart at 0 after wait()
  task.priority = info.priority;
  task.name = info.name;
  task.flops = info.flops;
  // Kept finite, so that paths stay comparable.
  task.weight = info.flops >= 1 ? static_cast<float>(std::min(info.flops, 1e30)) : 1.0F;
  task.run = nullptr;
}

}  // namespace

graph_engine::graph_engine(graph_options options)
    : options_(std::move(options)), state_(options_.stop) {
  if (options_.window == 0) throw usage_error("task_graph: the window must hold at least one task");
  if (options_.dry_run) profile_ = std::make_unique<graph_profile>();
}

graph_engine::~graph_engine() {
  if (workers_.has_begun()) workers_.join_anyhow();
}

const graph_profile& graph_engine::profile(const char* what) const {
  if (profile_ == nullptr) {
    throw usage_error(std::string("task_graph::") + what +
                      ": only a dry run keeps its graph (graph_options::dry_run)");
  }
  return *profile_;
}

void* graph_engine::prepare(const task_info& info, std::span<const operand> operands) {
  if (profile_ != nullptr) {
    profile_->add(info, operands);
    return nullptr;
  }
  if (!workers_.has_begun()) {
    workers_.begin();
  } else {
    workers_.require_caller("add");
  }
  make_room();
  reserve(operands);
  const graph_failure& failure = state_.failure;
  if (failure.is_cancelled() || (failure.has_failed() && dependences_.reads_spoilt(operands))) {
    drop(info, operands);
    return nullptr;
  }
  graph_task& task = start_record(info);
  if (dependences_.commutes()) [[unlikely]]
    turns_.enter(task);
  state_.reports.added(task, operands, dependences_.enter(task, operands).size());
  adding_ = &task;
  return task.body.data();
}

void graph_engine::make_room() {
  const std::size_t unfinished = state_.schedule.unfinished();
  if (workers_.count() == 1) {
    // One worker gains nothing by looking far ahead, and fewer records stay in the cache.
    const std::size_t window = std::min(options_.window, enough_for_one);
    if (unfinished >= window) workers_.make_room(window - 1);
    return;
  }
  if (since_refresh_ >= std::max<std::size_t>(options_.window / 2, 16)) refresh_paths();
  if (unfinished >= options_.window) workers_.make_room(options_.window - 1);
}

void graph_engine::refresh_paths() noexcept {
  since_refresh_ = 0;
  records_.refresh_paths();
}

void graph_engine::reserve(std::span<const operand> operands) {
  if (!records_.has_room()) {
    records_.recycle(state_.ended.take_all());
    if (!records_.has_room()) state_.schedule.reserve(records_.add_room());
  }
  dependences_.look_up(operands);
  if (dependences_.commutes()) [[unlikely]]
    turns_.look_up(operands, records_.next());
  if (options_.record) runs_.push_back({});
}

void graph_engine::drop(const task_info& info, std::span<const operand> operands) {
  dependences_.spoil(operands, report_.tasks);
  if (options_.record) {
    const ticks now = tick_clock::now();
    runs_.back() = {info.name, report_.tasks, -1, true, false, now, now};
  }
  ++report_.tasks;
  ++report_.skipped;
  report_.flops += info.flops;
}

graph_task& graph_engine::start_record(const task_info& info) {
  graph_task& task = records_.take();
  fill(task, info, report_.tasks++);
  // With one worker, the order of add() is as good as any other.
  task.path.store(workers_.count() > 1 ? task.weight : 1.0F, std::memory_order_relaxed);
  if (options_.record) {
    task.run = &runs_.back();
    *task.run = {info.name, task.number, -1, false, state_.reports.has_own_clock(), {}, {}};
  }
  report_.flops += info.flops;
  return task;
}

void graph_engine::commit(body_call call) noexcept {
  graph_task& task = *adding_;
  task.call = call;
  state_.schedule.count_added();
  report_.peak_unfinished = std::max(report_.peak_unfinished, state_.schedule.unfinished());
  ++since_refresh_;
  if (link_in_turn(task)) workers_.publish(&task);
}

/// Links the task to its predecessors; returns whether it may run.
bool graph_engine::link_in_turn(graph_task& task) noexcept {
  graph_section turn = state_.reports.section();
  const std::int32_t edges = link_predecessors(task, dependences_.found(), records_);
  report_.edges += static_cast<std::size_t>(edges);
  turn.changed_edges(static_cast<unsigned>(edges));
  return end_linking(task, edges);
}

graph_report graph_engine::wait() {
  if (profile_ != nullptr) return profile_->finish();
  if (workers_.has_begun()) {
    workers_.require_caller("wait");
    if (workers_.count() > 1) {
      refresh_paths();
      state_.schedule.refresh();
    }
    workers_.join();
  }
  graph_report report = finish_report();
  if (std::exception_ptr failure = workers_.end()) std::rethrow_exception(std::move(failure));
  return report;
}

/// Returns the report, and makes the graph ready for new tasks.
graph_report graph_engine::finish_report() {
  graph_report report = std::exchange(report_, {});
  report.skipped += state_.failure.skipped();
  report.workers = workers_.count();
  report.peak_bytes = records_.bytes() + dependences_.peak_bytes() + state_.schedule.bytes();
  report.runs.assign(runs_.begin(), runs_.end());
  runs_.clear();
  records_.recycle(state_.ended.take_all());
  records_.forget_failures();
  dependences_.clear();
  turns_.clear();
  since_refresh_ = 0;
  return report;
}

}  // namespace creek::linalg::detail
