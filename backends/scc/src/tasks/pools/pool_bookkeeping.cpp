// SPDX-License-Identifier: Apache-2.0
// Accesses to counters of children and to results, in the order of virtual time.
#include "pool_bookkeeping.hpp"

#include <utility>

namespace creek::scc_backend {

namespace {

/// Cost of a step in the free list of a pool, in core cycles; an estimate, see worker_loop.cpp.
constexpr cycles free_list_step{20};

/// The result of a task in its maker's memory.
class result_lines final : public ext::result_place {
 public:
  result_lines(const pool_bookkeeping& books, const worker_set& workers, pool_lines lines) noexcept
      : books_(&books), workers_(&workers), lines_(std::move(lines)) {}
  void stored() noexcept override {
    if (is_alive()) books_->store_result(lines_);
  }
  void looked_at() noexcept override {
    if (is_alive()) books_->read_flag(lines_);
  }

 private:
  /// Results may outlive the runtime, so the pointers are compared before they are followed.
  bool is_alive() const noexcept { return worker_set::driven_here() == workers_; }

  const pool_bookkeeping* books_;
  const worker_set* workers_;
  pool_lines lines_;
};

}  // namespace

std::optional<pool_lines> pool_bookkeeping::take_lines(task_worker& worker,
                                                       std::size_t lines) noexcept {
  worker.memory.charge(free_list_step);
  std::optional<mpm_block> block = worker.pool->take(lines);
  if (!block) {
    ++memory_full_;
    worker.counters.add(counter::inline_runs);
    log_.note(worker, step::inline_run);
    return std::nullopt;
  }
  return pool_lines(worker.pool, worker.core, std::move(*block));
}

// --- Counters of children -----------------------------------------------------------------------

/// Reads and writes the counter under the lock of its core: the chip has nothing else that is
/// atomic and numerous enough.
void pool_bookkeeping::change(task_worker& worker, const child_counter& counter, int by) {
  const auto value = counter.place.at(worker.memory, 0).as<word>();
  worker.memory.lock(counter.place.owner());
  worker.memory.store(value, worker.memory.load(value) + static_cast<word>(by));
  worker.memory.clear(counter.place.owner());
}

bool pool_bookkeeping::reserve_child(ext::task_context& context) noexcept {
  const core_operation begun(workers_.chip());
  task_worker& worker = workers_.here();
  auto found = children_.find(&context);
  if (found == children_.end()) {
    std::optional<pool_lines> place = take_lines(worker, 1);
    if (!place) return false;
    worker.memory.store(place->at(worker.memory, 0).as<word>(), 0);
    // Others may have made the context's counter meanwhile; then this one goes back.
    found = children_.try_emplace(&context, child_counter{std::move(*place)}).first;
  }
  child_counter& counter = found->second;  // stays where it is, unlike `found`
  ++counter.children;
  change(worker, counter, 1);
  return true;
}

void pool_bookkeeping::child_ended(ext::task_context& context) noexcept {
  const auto found = children_.find(&context);
  if (!workers_.are_driven_here() || found == children_.end()) return;
  const core_operation begun(workers_.chip());
  child_counter& counter = found->second;
  change(workers_.here(), counter, -1);
  if (--counter.children == 0) children_.erase(&context);
}

// --- Results ------------------------------------------------------------------------------------

std::unique_ptr<ext::result_place> pool_bookkeeping::reserve_result() noexcept {
  const core_operation begun(workers_.chip());
  std::optional<pool_lines> lines = reserve_flagged_result(workers_.here());
  if (!lines) return nullptr;
  return std::make_unique<result_lines>(*this, workers_, std::move(*lines));
}

std::optional<pool_lines> pool_bookkeeping::reserve_flagged_result(task_worker& worker) noexcept {
  std::optional<pool_lines> lines = take_lines(worker, 2);
  if (lines) worker.memory.store(lines->at(worker.memory, 1).as<word>(), 0);
  return lines;
}

void pool_bookkeeping::store_result(const pool_lines& place) const noexcept {
  const core_operation begun(workers_.chip());
  const std::byte result[memory::line_bytes] = {};
  task_memory& memory = workers_.here().memory;
  memory.write(place.at(memory, 0), result, sizeof result);
  memory.flush();
  memory.signal(place.at(memory, 1).as<word>(), 1);
}

void pool_bookkeeping::read_flag(const pool_lines& place) const noexcept {
  const core_operation begun(workers_.chip());
  task_memory& memory = workers_.here().memory;
  (void)memory.load(place.at(memory, 1).as<word>());
}

void pool_bookkeeping::about_to_publish() noexcept {
  if (!workers_.are_driven_here()) return;
  const core_operation begun(workers_.chip());
  workers_.chip().simulation().order_at(workers_.now());
}

}  // namespace creek::scc_backend
