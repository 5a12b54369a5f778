// SPDX-License-Identifier: Apache-2.0
// Result of a search for work.
#pragma once

#include <creek/tasking/ext/task_stack.hpp>
#include <cstdint>

#include "fibers/fiber.hpp"

namespace creek::host_backend {

/// A task, a fiber to continue, messages to handle, or nothing. Two words, for registers: searches
/// return it some ten million times a second while a worker waits.
class found_work {
 public:
  found_work() noexcept = default;
  // Null is nothing.
  found_work(ext::task_slot* stolen) noexcept : found_work(kind::slot, stolen) {}
  found_work(fiber* resumed) noexcept : found_work(kind::resumed, resumed) {}
  found_work(ext::submitted_task* task) noexcept : found_work(kind::task, task) {}
  /// Returns messages if there are any.
  static found_work messages_if(bool any) noexcept {
    found_work work;
    if (any) work.kind_ = kind::messages;
    return work;
  }

  explicit operator bool() const noexcept { return kind_ != kind::nothing; }
  bool messages() const noexcept { return kind_ == kind::messages; }
  // Null if it is something else.
  ext::task_slot* slot() const noexcept { return as<ext::task_slot>(kind::slot); }
  fiber* resumed() const noexcept { return as<fiber>(kind::resumed); }
  ext::submitted_task* task() const noexcept { return as<ext::submitted_task>(kind::task); }

 private:
  enum class kind : std::uintptr_t { nothing, messages, slot, resumed, task };

  found_work(kind what, void* found) noexcept
      : found_(found), kind_(found != nullptr ? what : kind::nothing) {}
  template <class T>
  T* as(kind what) const noexcept {
    return kind_ == what ? static_cast<T*>(found_) : nullptr;
  }

  void* found_ = nullptr;
  kind kind_ = kind::nothing;
};

}  // namespace creek::host_backend
