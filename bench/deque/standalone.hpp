// SPDX-License-Identifier: Apache-2.0
// creek's two deques without a scheduler around them, holding numbers: for the side-by-side
// comparison and for the Google Benchmark suite.
#pragma once
#include <creek/host/memory.hpp>
#include <creek/tasking/ext/task_stack.hpp>
#include <creek/tasking/lock_deque.hpp>
#include <cstdlib>
#include <memory>

namespace bench::deque {

/// The split deque of the host backend, whose tasks are slots in place. Only its owner uses it: no
/// thief asks for work, so the slow paths, which call the scheduler, are never taken.
class split_deque {
 public:
  explicit split_deque(std::uint32_t capacity)
      : slots_(std::make_unique<creek::ext::task_slot[]>(capacity + 1)) {
    stack_.set_up(slots_.get(), capacity, nullptr, nullptr, false);
  }
  /// Pushes a value; the deque holds at most `capacity` values at a time.
  void push(std::uint64_t value) { stack_.push(stack_.next_slot(), nullptr, value); }
  std::uint64_t pop() {
    creek::ext::task_slot* newest = stack_.next_slot() - 1;
    (void)stack_.join(newest);
    return newest->owner;
  }

 private:
  std::unique_ptr<creek::ext::task_slot[]> slots_;
  creek::ext::task_stack stack_{};
};

/// The lock-based deque over the host's memory policy, with descriptors as large as a task slot.
class locked_deque {
 public:
  explicit locked_deque(std::size_t capacity)
      : space_(1, {.mpm_bytes = deque::bytes_needed(capacity)}),
        memory_(space_.core(owner)),
        tasks_(owner, memory_.at(owner, 0), capacity) {
    tasks_.reset(memory_);
  }
  void push(std::uint64_t value) {
    if (!tasks_.push(memory_, descriptor{value, {}})) std::abort();
  }
  std::uint64_t pop() {
    descriptor got;
    if (!tasks_.pop_newest(memory_, got)) std::abort();
    return got.value;
  }

 private:
  struct descriptor {
    std::uint64_t value;
    std::byte rest[56];
  };
  using deque = creek::lock_deque<creek::host_backend::memory, descriptor>;
  static constexpr creek::core_id owner{0};

  creek::host_backend::memory_space space_;
  creek::host_backend::memory memory_;
  deque tasks_;
};

}  // namespace bench::deque
