// SPDX-License-Identifier: Apache-2.0
// Who waits for whom among the suspended strands of a runtime, for reports.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/task_stack.hpp>
#include <creek/tasking/waiting.hpp>

namespace creek::ext {

/// A suspended strand, as its backend knows it.
struct suspended_strand {
  const char* task = nullptr;  ///< name of the kind of its innermost task; null: of run()
  wait_reason reason{""};
  std::chrono::nanoseconds waited{};
  const task_stack* stack = nullptr;  ///< null: only the texts may be used
};

/// The waits of suspended strands. An edge leads from a strand to one that has to go on before the
/// first one's wait can end. Only edges that the waits know without extra work are found: to the
/// strand on which the task of a future runs, to thieves of a branch or a child, and to the call
/// that an object executes.
class wait_graph {
 public:
  /// Follows the waits. The strands must stay suspended meanwhile, so this makes no texts.
  /// `running` has the stack of the strand that each worker runs.
  wait_graph(std::vector<suspended_strand> strands,
             std::span<const stealable_stack* const> running);

  /// Returns the report. The strands may go on by then.
  std::vector<waiting_task> report() const;

 private:
  /// What a strand waits for, and the edges from it.
  struct node {
    const char* task = nullptr;     ///< name of the task that would end the wait, or null
    std::uint32_t object = 0;       ///< object that would answer, or 0
    std::uint32_t own_object = 0;   ///< object whose call the strand executes, or 0
    std::uint32_t first_edge = 0;   ///< index in `keys_`
    std::uint32_t edges = 0;        ///< number of strands that have to go on first
    std::int64_t children = 0;      ///< tasks that have not ended
    int worker = -1;                ///< worker that executes the task, if it runs
    bool is_known = false;          ///< somebody is known who would end the wait
    bool has_begun = false;         ///< the task has
    bool is_ready = false;          ///< the wait is over
  };
  /// A strand has several keys: things that it must come to an end for, by address.
  struct key {
    std::uintptr_t of = 0;
    std::uint32_t strand = 0;
  };

  void add_keys();
  void follow(std::size_t strand, std::span<const stealable_stack* const> running);
  void lead_to(node& from, std::uintptr_t key) noexcept;
  void find_cycles();
  std::string name_of(std::size_t strand) const;
  std::string who_ends(std::size_t strand) const;
  std::string spell_cycle(std::span<const std::uint32_t> cycle) const;

  std::vector<suspended_strand> strands_;
  std::vector<node> nodes_;
  std::vector<key> keys_;                            ///< sorted
  std::vector<std::vector<std::uint32_t>> cycles_;  ///< strands of each
};

}  // namespace creek::ext
