// SPDX-License-Identifier: Apache-2.0
// Names and times of the kinds of tasks that one worker has run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <creek/core/measuring/clock.hpp>

namespace creek::host_backend {

/// Name of a kind of tasks, and sums over those that have ended.
struct task_kind {
  const char* key = nullptr;           ///< task_type::name; null: an unused entry, or unnamed tasks
  const char* name = nullptr;          ///< readable copy: the library with `key` may be unloaded
  const char* name_resumed = nullptr;  ///< for the part of a task after a wait
  std::uint64_t count = 0;
  ticks ran{}, longest{}, waited{};
};

/// Hash table of kinds by the address of task_type::name. Used by one worker at a time. Its own
/// table, because one of the standard library would add some kilobytes to every program.
class task_kinds {
 public:
  task_kinds() noexcept;
  ~task_kinds();
  task_kinds(const task_kinds&) = delete;
  task_kinds& operator=(const task_kinds&) = delete;

  /// Returns the entry of a kind, that of unnamed tasks for null or if there is no memory. Valid
  /// until the next call; the names stay valid.
  task_kind& of(const char* key) noexcept;
  task_kind& unnamed() noexcept { return unnamed_; }
  /// Returns the table, with unused entries.
  std::span<const task_kind> entries() const noexcept { return {table_.get(), capacity_}; }

 private:
  task_kind& place_of(const char* key) const noexcept;
  bool grow() noexcept;

  std::unique_ptr<task_kind[]> table_;
  std::size_t capacity_ = 0;  ///< 0 or a power of two
  std::size_t used_ = 0;      ///< at most half of it
  task_kind unnamed_;
};

}  // namespace creek::host_backend
