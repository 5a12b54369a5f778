// SPDX-License-Identifier: Apache-2.0
// How the movable tasks of a rank go to other ranks, and those of others come here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include <creek/core/objects/object_space.hpp>
#include <creek/tasking/detail/movable_bag.hpp>

namespace creek {

class runtime;

/// Numbers of one rank since its last run() began.
struct movable_counts {
  std::uint64_t taken = 0;     ///< tasks from other ranks
  std::uint64_t given = 0;     ///< tasks to other ranks
  std::uint64_t messages = 0;  ///< in which these were given
};

namespace detail {

class movable_workers;

/// The movable tasks of one rank, used by the thread of its object space. A rank without tasks asks
/// two others, chosen at random, then its lifelines: those whose number differs in one bit. These
/// keep the request until they have tasks. A rank gives the older half of what it has.
class movable_pool {
 public:
  /// Collective. Without workers the calling thread runs the tasks.
  movable_pool(object_space& space, runtime* workers);
  movable_pool(const movable_pool&) = delete;
  movable_pool& operator=(const movable_pool&) = delete;
  ~movable_pool();

  /// Returns the pool of the calling thread. Throws usage_error if there is none.
  [[nodiscard]] static movable_pool& current();

  [[nodiscard]] object_space& space() const noexcept { return space_; }
  /// The tasks to begin with.
  [[nodiscard]] movable_bag& own() noexcept { return own_; }
  [[nodiscard]] const movable_counts& counts() const noexcept { return counts_; }
  /// Returns how many threads run tasks of this rank.
  [[nodiscard]] std::size_t threads() const noexcept;
  /// Collective: runs all tasks of all ranks. `results`: one for each thread.
  void run(const std::vector<void*>& results);

  void* combined = nullptr;  ///< the results of this rank

 private:
  struct request {
    int thief;
    std::uint32_t run;
  };

  // Called by other ranks. `hops`: how many more ranks are asked; negative for a lifeline.
  static void request_tasks(int thief, std::uint32_t run, int hops);
  static void refuse(std::uint32_t run);
  static void receive_tasks(std::uint32_t run, std::string_view message);

  void run_until_empty();
  void run_alone();
  void run_on_workers();
  void serve_parked();
  [[nodiscard]] bool give(int thief);
  void park(request one);
  void want_shares();
  void look_for_tasks();
  void ask(int victim, int hops);
  [[nodiscard]] int random_rank_but(int thief);

  object_space& space_;
  std::unique_ptr<movable_workers> workers_;  ///< null: the thread of the object space runs tasks
  movable_bag own_;                           ///< without workers, all tasks
  std::vector<request> parked_;               ///< get tasks when there are some
  std::uint32_t run_ = 0;                     ///< number of the run
  std::minstd_rand random_;
  bool is_working_ = false;
  movable_counts counts_;
};

}  // namespace detail
}  // namespace creek
