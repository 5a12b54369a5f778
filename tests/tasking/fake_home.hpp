// SPDX-License-Identifier: Apache-2.0
// A task stack alone, without scheduler or fibers: plain variables answer the calls of its owner,
// and the thief's side of a task is three lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include <creek/tasking/ext/task_stack.hpp>

namespace creek::support {

/// Counts calls; a suspended strand is a thread that yields until it is resumed.
class fake_home final : public ext::task_stack_home {
 public:
  std::atomic<std::uint64_t> available{0};  ///< calls of work_available()
  std::atomic<ext::announced_pushes> which{
      ext::announced_pushes::none};  ///< returned by announced()

  void work_available() noexcept override { available.fetch_add(1, std::memory_order_relaxed); }
  ext::announced_pushes announced() const noexcept override {
    return which.load(std::memory_order_relaxed);
  }
  bool offer(ext::task_stack&, ext::task_slot*) noexcept override { return false; }
  bool take_back(ext::task_stack&, ext::task_slot*) noexcept override { return true; }
  void run_surplus(ext::task_stack&) noexcept override {}

  void suspend(ext::publish_fn publish, void* argument, const ext::wait_reason& /*why*/) override {
    waiting_strand self;
    self.home = this;
    if (!publish(argument, &self)) return;
    while (!self.resumed.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  void resume(ext::strand* suspended) override {
    static_cast<waiting_strand*>(suspended)->resumed.store(true, std::memory_order_release);
  }
  void fork(void (*)(void*) noexcept, void*, void (*)(void*) noexcept, void*) override {}
  void submit(ext::submitted_task*) override {}
  int worker_index() const noexcept override { return 0; }
  bool lost_in_fork() const noexcept override { return false; }

 private:
  struct waiting_strand : ext::strand {
    std::atomic<bool> resumed{false};
  };
};

/// A task stack with its slots. Calls `on_run(id)` for every task that runs.
class lone_stack {
 public:
  lone_stack(std::uint32_t capacity, void (*on_run)(std::uint32_t id))
      : slots_(new ext::task_slot[capacity + 1]) {
    told = on_run;
    stack.set_up(slots_.get(), capacity, &home, nullptr, false);
  }

  ext::task_slot* push_fork(std::uint32_t id) { return push(id, 0); }
  ext::task_slot* push_spawned(std::uint32_t id) { return push(id, ext::task_slot::spawned_bit); }
  /// Joins the newest open fork and runs it if no thief has.
  ext::join_result join(ext::task_slot* slot) {
    const ext::join_result result = stack.join(slot);
    if (result == ext::join_result::run_inline) told(id_of(slot));
    return result;
  }
  /// Returns the oldest shared task, or null.
  ext::task_slot* steal() {
    ext::task_slot* task = nullptr;
    return stack.steal(task) == steal_result::taken ? task : nullptr;
  }
  bool run_newest() { return stack.run_newest(stack.slots()); }

  /// Runs a task that a thief has taken.
  static void run_taken(ext::task_slot* slot) {
    if (slot->is_spawned()) {
      ext::run_stolen(slot);
      return;
    }
    told(id_of(slot));
    finish_taken(slot);
  }
  static void finish_taken(ext::task_slot* slot) {
    namespace state = detail::slot_state;
    const std::uintptr_t seen = slot->state.exchange(state::done, std::memory_order_acq_rel);
    if ((seen & state::flag) == 0) return;
    auto* waiter = reinterpret_cast<ext::strand*>(seen & state::strand_mask);
    waiter->home->resume(waiter);
  }
  static std::uint32_t id_of(const ext::task_slot* slot) {
    std::uint32_t id = 0;
    std::memcpy(&id, slot->closure, sizeof id);
    return id;
  }

  fake_home home;
  ext::task_stack stack;

 private:
  ext::task_slot* push(std::uint32_t id, std::uintptr_t owner) {
    ext::task_slot* slot = stack.next_slot();
    std::memcpy(slot->closure, &id, sizeof id);
    return stack.push(slot, &type, owner) ? slot : nullptr;
  }
  static ext::strand* run(ext::task_slot* slot, ext::task_stack* here) noexcept {
    const std::uint32_t id = id_of(slot);
    if (here == nullptr) slot->state.store(detail::slot_state::moved, std::memory_order_release);
    told(id);
    return nullptr;
  }
  static constexpr ext::task_type type{&run, "task of a test"};
  static inline void (*told)(std::uint32_t) = nullptr;
  std::unique_ptr<ext::task_slot[]> slots_;
};

}  // namespace creek::support
