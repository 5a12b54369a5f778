// SPDX-License-Identifier: Apache-2.0
// A stolen task: running it, and the exception of a stolen fork.
#include <creek/tasking/ext/task_slot.hpp>

#include <memory>
#include <new>
#include <utility>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/task_context.hpp>

namespace creek::ext {

namespace {

/// Notes, for reports, for whom the strand works.
class thief_mark {
 public:
  explicit thief_mark(const void* maker) noexcept : here_(current_stack) {
    if (here_ != nullptr) outer_ = std::exchange(here_->record().stolen, maker);
  }
  ~thief_mark() {
    if (here_ != nullptr) here_->record().stolen = outer_;
  }
  thief_mark(const thief_mark&) = delete;
  thief_mark& operator=(const thief_mark&) = delete;

 private:
  task_stack* const here_;
  const void* outer_ = nullptr;
};

}  // namespace

strand* run_stolen(task_slot* slot) noexcept {
  sanitizer::acquired(&slot->state);
  const auto* type =
      reinterpret_cast<const task_type*>(slot->state.load(std::memory_order_relaxed));
  strand* next = nullptr;
  const void* const counter = reinterpret_cast<void*>(slot->owner_word() & task_slot::owner_mask);
  const thief_mark noted(slot->is_spawned() ? counter : slot);
  if (slot->is_spawned()) {
    next = type->run(slot, nullptr);
  } else {
    // Only a stolen branch can know when the tasks it spawned are done, so it waits for them.
    slot->state.store(slot_state::running, std::memory_order_release);
    root_scope root;
    task_frame branch(&root, type);
    type->run(slot, nullptr);
    branch.finish();
    if (std::exception_ptr failure = root.wait_all()) fail_fork(slot, std::move(failure));
    tell_others();
    sanitizer::releases(&slot->state);
    const std::uintptr_t seen = slot->state.exchange(slot_state::done, std::memory_order_acq_rel);
    if ((seen & slot_state::flag) != 0) {
      next = reinterpret_cast<strand*>(seen & slot_state::strand_mask);
    }
  }
  return next;
}

void fail_fork(task_slot* slot, std::exception_ptr failure) noexcept {
  if ((slot->owner & task_slot::failed_bit) != 0) return;
  ::new (static_cast<void*>(slot->closure)) std::exception_ptr(std::move(failure));
  std::atomic_ref(slot->owner)
      .store(slot->owner | task_slot::failed_bit, std::memory_order_relaxed);
}

std::exception_ptr take_failure(task_slot* slot) noexcept {
  if ((slot->owner & task_slot::failed_bit) == 0) return nullptr;
  auto* stored = std::launder(reinterpret_cast<std::exception_ptr*>(slot->closure));
  std::exception_ptr failure = std::move(*stored);
  std::destroy_at(stored);
  return failure;
}

}  // namespace creek::ext
