// SPDX-License-Identifier: Apache-2.0
#include "ready_queues.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "graph/records/task_links.hpp"

namespace creek::linalg::detail {

void ready_queues::set_workers(unsigned workers) {
  const std::size_t room = heaps_.empty() ? 0 : heaps_.front().capacity();
  heaps_.resize(std::size_t{workers} + 1);
  tops_.assign(heaps_.size(), 0);
  reserve(room);
}

void ready_queues::reserve(std::size_t tasks) {
  for (heap& each : heaps_) each.reserve(tasks);
}

std::uint64_t ready_queues::key_of(const graph_task& task) noexcept {
  // A path is at least 1, so no key is 0. Non-negative floats compare like their bit patterns.
  const auto path = std::bit_cast<std::uint32_t>(task.path.load(std::memory_order_relaxed));
  const auto priority = static_cast<std::uint32_t>(task.priority) ^ 0x80000000u;
  return std::uint64_t{priority} << 32 | path;
}

void ready_queues::push(graph_task* task) noexcept {
  const std::size_t shared = heaps_.size() - 1;
  const int home = task->home.load(std::memory_order_relaxed);
  const std::size_t at = home < 0 ? shared : std::min(static_cast<std::size_t>(home), shared);
  heap& into = heaps_[at];
  into.push_back({key_of(*task), task->number, task});
  std::push_heap(into.begin(), into.end(), goes_later);
  tops_[at] = into.front().key;
  ++size_;
}

graph_task* ready_queues::take_top(std::size_t at) noexcept {
  heap& from = heaps_[at];
  graph_task* taken = from.front().task;
  std::pop_heap(from.begin(), from.end(), goes_later);
  from.pop_back();
  tops_[at] = from.empty() ? 0 : from.front().key;
  --size_;
  return taken;
}

std::size_t ready_queues::best_of_others(std::size_t own, std::size_t shared) const noexcept {
  std::size_t best = heaps_.size();
  for (std::size_t i = 0; i < heaps_.size(); ++i) {
    if (i == own || i == shared || tops_[i] == 0) continue;
    if (best == heaps_.size() || goes_later(heaps_[best].front(), heaps_[i].front())) best = i;
  }
  return best;
}

bool ready_queues::is_urgent(std::size_t other, std::size_t mine) const noexcept {
  const graph_task& theirs = *heaps_[other].front().task;
  const graph_task& own = *heaps_[mine].front().task;
  if (theirs.priority != own.priority) return theirs.priority > own.priority;
  return theirs.path.load(std::memory_order_relaxed) >
         own.path.load(std::memory_order_relaxed) + own.weight;
}

graph_task* ready_queues::pick(unsigned worker) noexcept {
  if (size_ == 0) return nullptr;
  const std::size_t shared = heaps_.size() - 1;
  const std::size_t own = std::min<std::size_t>(worker, shared - 1);
  std::size_t mine = own;
  if (tops_[own] == 0 ||
      (tops_[shared] != 0 && goes_later(heaps_[own].front(), heaps_[shared].front()))) {
    mine = shared;
  }
  if (shared > 1) {
    const std::size_t other = best_of_others(own, shared);
    if (other < heaps_.size() && (tops_[mine] == 0 || is_urgent(other, mine))) mine = other;
  }
  return take_top(mine);
}

void ready_queues::refresh() noexcept {
  for (std::size_t i = 0; i < heaps_.size(); ++i) {
    heap& each = heaps_[i];
    if (each.empty()) continue;
    for (item& ready : each) ready.key = key_of(*ready.task);
    std::make_heap(each.begin(), each.end(), goes_later);
    tops_[i] = each.front().key;
  }
  assert(verify());
}

bool ready_queues::verify_heap(std::size_t at) const noexcept {
  const heap& each = heaps_[at];
  const auto may_run = [](const item& ready) {
    const std::int32_t pending = ready.task->pending.load(std::memory_order_relaxed);
    return ready.task->number == ready.number && (pending == 0 || pending == linking);
  };
  return std::is_heap(each.begin(), each.end(), goes_later) &&
         tops_[at] == (each.empty() ? 0 : each.front().key) &&
         std::all_of(each.begin(), each.end(), may_run);
}

bool ready_queues::verify() const noexcept {
  std::size_t tasks = 0;
  for (std::size_t i = 0; i < heaps_.size(); ++i) {
    if (!verify_heap(i)) return false;
    tasks += heaps_[i].size();
  }
  return tasks == size_ && tops_.size() == heaps_.size();
}

std::size_t ready_queues::bytes() const noexcept {
  std::size_t sum = 0;
  for (const heap& each : heaps_) sum += each.capacity() * sizeof(item);
  return sum;
}

}  // namespace creek::linalg::detail
