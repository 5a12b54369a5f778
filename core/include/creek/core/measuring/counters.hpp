// SPDX-License-Identifier: Apache-2.0
// Counters per worker. Each worker writes its own, and any thread may read them at any time:
// relaxed atomics without read-modify-write, so that counting costs a load, an add and a store to a
// line that nobody else writes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek {

/// Every backend fills these alike; times are host or virtual nanoseconds as the backend says.
enum class counter : std::uint8_t {
  tasks,          ///< tasks executed
  spawns,         ///< tasks made available to others
  inline_runs,    ///< tasks run in their maker because the deque was full
  steals_tried,   ///< attempts to take a task from another worker
  steals_won,     ///< attempts that got one
  forced_shares,  ///< times a thief did not wait for a busy owner's answer
  suspends,       ///< waits that left their stack
  resumes,        ///< suspended waits taken up again
  stacks,         ///< stacks made (not taken from the pool)
  wakes,          ///< sleeping workers woken by this one
  parks,          ///< times this worker went to sleep in the kernel
  messages,       ///< messages sent to other cores
  bytes,          ///< payload bytes of those messages
  invocations,    ///< cross-core invocations served
  idle_ns,        ///< time without work, spinning or asleep
  parked_ns,      ///< the part of idle_ns spent asleep
};

inline constexpr std::size_t counter_count = static_cast<std::size_t>(counter::parked_ns) + 1;

/// Returns the counter's name in JSON and tables, such as "steals_tried".
std::string_view name_of(counter which) noexcept;

/// Plain numbers: a snapshot, a sum or a difference of counters.
class counter_values {
 public:
  [[nodiscard]] std::uint64_t operator[](counter which) const noexcept {
    return values_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::uint64_t& operator[](counter which) noexcept {
    return values_[static_cast<std::size_t>(which)];
  }

  counter_values& operator+=(const counter_values& other) noexcept;
  /// Subtracts an earlier snapshot of the same counters: what was counted since `earlier` remains.
  counter_values& operator-=(const counter_values& earlier) noexcept;
  friend counter_values operator+(counter_values a, const counter_values& b) noexcept {
    return a += b;
  }
  friend counter_values operator-(counter_values a, const counter_values& b) noexcept {
    return a -= b;
  }
  friend bool operator==(const counter_values&, const counter_values&) = default;

 private:
  std::array<std::uint64_t, counter_count> values_{};
};

/// The counters of one worker. Takes two lines of its own, as CPUs prefetch lines in pairs.
class alignas(128) worker_counters {
 public:
  /// Adds to a counter. Only the owning worker may call it.
  void add(counter which, std::uint64_t amount = 1) noexcept {
    auto& value = values_[static_cast<std::size_t>(which)];
    value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  /// Returns all counters; any thread. Each number is exact at some moment during the call; these
  /// moments differ, so sums over a running worker may be off by what it does meanwhile.
  [[nodiscard]] counter_values snapshot() const noexcept;

 private:
  std::array<std::atomic<std::uint64_t>, counter_count> values_{};
};

/// Returns the sum of the snapshots of several workers.
[[nodiscard]] counter_values total_of(std::span<const counter_values> workers) noexcept;

/// Returns {"tasks":12,...}: all counters, in the order of the enum.
[[nodiscard]] std::string to_json(const counter_values& values);

/// Returns {"total":{...},"workers":[{...},...]}.
[[nodiscard]] std::string to_json(std::span<const counter_values> workers);

}  // namespace creek
