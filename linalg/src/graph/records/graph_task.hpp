// SPDX-License-Identifier: Apache-2.0
// Record of one task between add() and the recycling of its memory, and its edges.
#pragma once

#include <creek/core/threads/sanitizer.hpp>
#include <creek/linalg/task_graph.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace creek::linalg::detail {

struct graph_task;

/// Edge: when a task ends, its successor waits for one less. Owned by the successor, listed at the
/// predecessor; written and recycled by the enqueuer, read once by the predecessor's worker.
struct graph_edge {
  std::uintptr_t word = 0;  ///< successor and flags
  graph_edge* next = nullptr;

  static constexpr std::uintptr_t flow = 1;    ///< the successor reads the predecessor's result
  static constexpr std::uintptr_t affine = 2;  ///< ... or changes its block: prefer its worker
  graph_task* successor() const noexcept {
    return reinterpret_cast<graph_task*>(word & ~std::uintptr_t{3});
  }
};

/// Block that a task moves, for an observer.
struct moved_block {
  std::uint64_t number;  ///< in the order in which the graph first saw the blocks
  std::size_t bytes;
  access how;
};

struct block_turn;

/// Parts that few tasks have. Made once for a record.
struct task_extras {
  std::vector<moved_block> moves;  ///< for an observer
  std::vector<block_turn*> turns;  ///< of a task that `commutes`
};

/// Edge that does not fit into its record's own edges.
struct spare_edge : graph_edge {
  spare_edge* next_owned = nullptr;
};

/// The enqueuer writes a record while it is free or being added; then the worker that runs the task
/// writes it until `successors` is closed, except for the atomics. Only the enqueuer recycles
/// records, so it can check at any time whether `number` is still the task it knew.
struct alignas(64) graph_task {
  // Touched when tasks are linked and when they finish.
  std::atomic<graph_edge*> successors{nullptr};  ///< newest first; closed() when the task ends
  std::atomic<std::int32_t> pending{0};          ///< predecessors to wait for, plus add() itself
  std::atomic<std::int16_t> home{-1};            ///< worker that wrote its block, or -1
  std::int16_t ran_on = -1;                      ///< published by the closing of `successors`
  std::atomic<bool> poisoned{false};             ///< reads a block that a failed task writes
  bool failed = false;                           ///< did not run or threw; published like `ran_on`
  bool commutes = false;                         ///< takes turns with others: see block_turns.hpp
  bool has_turns = false;                        ///< it is its turn; guarded by the graph's lock
  std::int32_t priority = 0;
  body_call call = nullptr;
  std::uint64_t number = no_number;
  std::atomic<float> path{0};  ///< flops from its start to the end of the known graph
  float weight = 1;
  std::uint64_t found_by = no_number;  ///< used by the enqueuer: the task that depends on it ...
  std::uint32_t found_at = 0;          ///< ... and the index of that edge
  // The second cache line.
  const char* name = nullptr;  ///< this and `flops` are passed to a power policy
  double flops = 0;
  task_run* run = nullptr;
  graph_task* next = nullptr;  ///< next in a list of free, ended, or now ready tasks
  // Used by the enqueuer only.
  graph_task* older = nullptr;  ///< all records in use, in the order of add()
  graph_task* newer = nullptr;
  spare_edge* spare_edges = nullptr;
  std::unique_ptr<task_extras> extras;
  // Most tasks have at most this many predecessors.
  static constexpr std::size_t own_edges = 4;
  std::array<graph_edge, own_edges> edges;
  alignas(16) std::array<std::byte, inline_body> body;

  static constexpr std::uint64_t no_number = ~std::uint64_t{0};
  /// Marks the list of a task that has ended; no successor can be added any more.
  static graph_edge* closed() noexcept {
    static constinit graph_edge mark;
    return &mark;
  }
  /// Returns whether the task ended. Acquire: pairs with the closing, so its effects are visible.
  bool has_ended() const noexcept {
    if (successors.load(std::memory_order_acquire) != closed()) return false;
    sanitizer::acquired(&successors);
    return true;
  }
};

/// A task and the number that its record had at that time.
struct task_name {
  graph_task* task = nullptr;
  std::uint64_t number = graph_task::no_number;

  friend bool operator==(const task_name&, const task_name&) = default;
  /// See block_uses.hpp.
  friend std::uint64_t age_of(const task_name& name) noexcept { return name.number + 1; }
  /// Called by the enqueuer; returns whether the record has not been recycled.
  bool is_known() const noexcept { return task->number == number; }
};

}  // namespace creek::linalg::detail
