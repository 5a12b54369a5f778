// SPDX-License-Identifier: Apache-2.0
#include "task_graph_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::linalg::detail {

graph_engine::graph_engine(graph_options options)
    : options_(std::move(options)), crew_(options_.stop) {
  if (options_.window == 0) throw usage_error("task_graph: the window must hold at least one task");
  if (options_.dry_run) profile_ = std::make_unique<graph_profile>();
}

graph_engine::~graph_engine() {
  if (crew_.has_begun()) crew_.join_anyhow();
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
  if (!crew_.has_begun()) {
    crew_.begin();
  } else {
    crew_.require_caller("add");
  }
  make_room();
  reserve(operands);
  if (crew_.is_cancelled() || (crew_.has_failed() && reads_spoilt(operands))) {
    drop(info, operands);
    return nullptr;
  }
  graph_task& task = start_record(info);
  find_edges(task, operands);
  if (crew_.observer() != nullptr) report_add(task, operands);
  adding_ = &task;
  return task.body.data();
}

void graph_engine::make_room() {
  if (crew_.workers() == 1) {
    // One worker gains nothing by looking far ahead, and fewer records stay in the cache.
    const std::size_t window = std::min(options_.window, enough_for_one);
    if (crew_.unfinished() >= window) crew_.make_room(window - 1);
    return;
  }
  if (since_refresh_ >= std::max<std::size_t>(options_.window / 2, 16)) refresh_paths();
  if (crew_.unfinished() >= options_.window) crew_.make_room(options_.window - 1);
}

void graph_engine::reserve(std::span<const operand> operands) {
  if (records_.available() == 0) {
    recycle_ended();
    if (records_.available() == 0) {
      records_.reserve(1);
      crew_.reserve(records_.capacity());
    }
  }
  blocks_.look_up(operands, [this](task_name task) { return must_stay(task); });
  for (const auto* each : blocks_.entries()) __builtin_prefetch(each->writer.task, 1);
  const std::size_t edges = blocks_.most_edges();
  if (found_.capacity() < edges) found_.reserve(2 * edges);
  if (edges > graph_task::own_edges) spare_edges_.reserve(edges - graph_task::own_edges);
  if (options_.record) runs_.push_back({});
}

void graph_engine::recycle_ended() {
  graph_task* task = crew_.take_ended();
  while (task != nullptr) {
    graph_task* next = task->next;
    if (task->failed) failed_.insert(task->number);
    while (task->spare_edges != nullptr) {
      spare_edges_.put(std::exchange(task->spare_edges, task->spare_edges->next_owned));
    }
    (task->newer != nullptr ? task->newer->older : newest_) = task->older;
    if (task->older != nullptr) task->older->newer = task->newer;
    task->number = graph_task::no_number;
    records_.put(task);
    task = next;
  }
}

bool graph_engine::has_failed(task_name task) const {
  if (task == task_name{}) return false;
  if (task.is_known()) return task.task->has_ended() && task.task->failed;
  return !failed_.empty() && failed_.contains(task.number);
}

bool graph_engine::must_stay(task_name task) const {
  return (task.is_known() && !task.task->has_ended()) || has_failed(task);
}

bool graph_engine::reads_spoilt(std::span<const operand> operands) const {
  const auto entries = blocks_.entries();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!reads(operands[i].how)) continue;
    if (entries[i]->spoilt || has_failed(entries[i]->writer)) return true;
  }
  return false;
}

void graph_engine::drop(const task_info& info, std::span<const operand> operands) {
  const auto entries = blocks_.entries();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (writes(operands[i].how)) entries[i]->spoilt = true;
  }
  if (options_.record) {
    runs_.back() = {info.name, next_number_, -1, true, false, tick_clock::now(), tick_clock::now()};
  }
  ++next_number_;
  ++dropped_;
  report_.flops += info.flops;
}

graph_task& graph_engine::start_record(const task_info& info) {
  graph_task& task = *records_.take();
  task.successors.store(nullptr, std::memory_order_relaxed);
  task.pending.store(linking, std::memory_order_relaxed);
  task.home.store(-1, std::memory_order_relaxed);
  task.poisoned.store(false, std::memory_order_relaxed);
  task.failed = false;
  task.number = next_number_++;
  task.found_by = graph_task::no_number;  // numbers restart at 0 after wait()
  task.priority = info.priority;
  task.name = info.name;
  task.flops = info.flops;
  // Kept finite, so that paths stay comparable.
  task.weight = info.flops >= 1 ? static_cast<float>(std::min(info.flops, 1e30)) : 1.0F;
  // With one worker, the order of add() is as good as any other.
  task.path.store(crew_.workers() > 1 ? task.weight : 1.0F, std::memory_order_relaxed);
  task.run = nullptr;
  if (options_.record) {
    task.run = &runs_.back();
    *task.run = {info.name, task.number, -1, false, crew_.has_own_clock(), {}, {}};
  }
  task.newer = nullptr;
  task.older = std::exchange(newest_, &task);
  if (task.older != nullptr) task.older->newer = &task;
  report_.flops += info.flops;
  return task;
}

void graph_engine::find_edges(graph_task& task, std::span<const operand> operands) noexcept {
  found_.clear();
  const auto found = [&](task_name from, dependence kind, bool affine) noexcept {
    if (!from.is_known()) return;  // it ended long ago without failing: see reads_spoilt()
    if (from.task->found_by != task.number) {
      from.task->found_by = task.number;
      from.task->found_at = static_cast<std::uint32_t>(found_.size());
      found_.push_back({from.task, 0});
    }
    std::uintptr_t& flags = found_[from.task->found_at].flags;
    if (kind == dependence::flow) flags |= graph_edge::flow;
    if (affine) flags |= graph_edge::affine;
  };
  blocks_.enter(
      task_name{&task, task.number}, operands, [this](task_name other) { return must_stay(other); },
      found);
}

void graph_engine::commit(body_call call) noexcept {
  graph_task& task = *adding_;
  task.call = call;
  crew_.count_added();
  report_.peak_unfinished = std::max(report_.peak_unfinished, crew_.unfinished());
  ++since_refresh_;
  if (link_in_turn(task)) crew_.publish(&task);
}

/// Links the task to its predecessors; returns whether it may run.
bool graph_engine::link_in_turn(graph_task& task) noexcept {
  graph_section turn = crew_.section();
  const std::int32_t edges = link(task);
  report_.edges += static_cast<std::size_t>(edges);
  turn.changed_edges(static_cast<unsigned>(edges));
  // Acquire: the effects of predecessors that ended during the linking.
  if (edges == 0) return true;
  sanitizer::releases(&task.pending);
  if (task.pending.fetch_sub(linking - edges, std::memory_order_acq_rel) != linking - edges) {
    return false;
  }
  sanitizer::acquired(&task.pending);
  return true;
}

/// Records the blocks that the task moves, and reports the work of adding it in one piece.
void graph_engine::report_add(graph_task& task, std::span<const operand> operands) {
  task.moves.reset();
  for (const operand& each : operands) {
    if (each.bytes == 0) continue;
    if (task.moves == nullptr) task.moves = std::make_unique<std::vector<moved_block>>();
    const auto number = block_numbers_.try_emplace(each.block, block_numbers_.size()).first->second;
    task.moves->push_back({number, each.bytes, each.how});
  }
  const std::array done{
      work_amount{work::task_recorded},
      work_amount{work::operand_found, static_cast<std::int64_t>(operands.size())},
      work_amount{work::edge_found, static_cast<std::int64_t>(found_.size())}};
  crew_.observer()->worked(done);
}

std::int32_t graph_engine::link(graph_task& task) noexcept {
  std::int32_t edges = 0;
  const auto self = reinterpret_cast<std::uintptr_t>(&task);
  for (const found_edge& each : found_) {
    graph_edge* edge = nullptr;
    if (static_cast<std::size_t>(edges) < graph_task::own_edges) {
      edge = &task.edges[static_cast<std::size_t>(edges)];
    } else {
      spare_edge* spare = spare_edges_.take();
      spare->next_owned = std::exchange(task.spare_edges, spare);
      edge = spare;
    }
    edge->word = self | each.flags;
    if (enter_edge(*each.from, *edge)) {
      ++edges;
      continue;
    }
    if (edge == task.spare_edges) {
      spare_edge* unused = std::exchange(task.spare_edges, task.spare_edges->next_owned);
      spare_edges_.put(unused);
    }
    if ((each.flags & graph_edge::affine) != 0) {
      task.home.store(each.from->ran_on, std::memory_order_relaxed);
    }
    if (each.from->failed && (each.flags & graph_edge::flow) != 0) {
      task.poisoned.store(true, std::memory_order_relaxed);
    }
  }
  return edges;
}

bool graph_engine::enter_edge(graph_task& from, graph_edge& edge) noexcept {
  graph_edge* first = from.successors.load(std::memory_order_acquire);
  do {
    if (first == graph_task::closed()) {
      sanitizer::acquired(&from.successors);
      return false;
    }
    edge.next = first;
    sanitizer::releases(&from.successors);
  } while (!from.successors.compare_exchange_weak(first, &edge, std::memory_order_release,
                                                  std::memory_order_acquire));
  return true;
}

void graph_engine::refresh_paths() noexcept {
  since_refresh_ = 0;
  // From the newest task backwards, so successors come first. Only the enqueuer changes and
  // recycles edges and records, so it may walk a list while its task ends.
  for (graph_task* task = newest_; task != nullptr; task = task->older) {
    const graph_edge* edge = task->successors.load(std::memory_order_acquire);
    if (edge == graph_task::closed()) continue;
    float longest = 0;
    for (; edge != nullptr; edge = edge->next) {
      longest = std::max(longest, edge->successor()->path.load(std::memory_order_relaxed));
    }
    task->path.store(task->weight + longest, std::memory_order_relaxed);
  }
}

graph_report graph_engine::wait() {
  if (profile_ != nullptr) return profile_->finish();
  if (crew_.has_begun()) {
    crew_.require_caller("wait");
    if (crew_.workers() > 1) {
      refresh_paths();
      crew_.refresh();
    }
    crew_.join();
  }
  graph_report report = std::move(report_);
  report.tasks = next_number_;
  report.skipped = crew_.skipped() + dropped_;
  report.workers = crew_.workers();
  report.peak_bytes = records_.bytes() + spare_edges_.bytes() + blocks_.peak_bytes() +
                      crew_.bytes() + found_.capacity() * sizeof(found_edge);
  report.runs.assign(runs_.begin(), runs_.end());
  clear();
  if (std::exception_ptr failure = crew_.end()) std::rethrow_exception(std::move(failure));
  return report;
}

void graph_engine::clear() {
  recycle_ended();
  report_ = {};
  blocks_.clear();
  failed_.clear();
  runs_.clear();
  next_number_ = since_refresh_ = dropped_ = 0;
}

}  // namespace creek::linalg::detail
