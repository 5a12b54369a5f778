// SPDX-License-Identifier: Apache-2.0
// run_on_ranks(): runs a job on cores that share no memory and exchange messages. Jobs and results
// are those of run().
#pragma once

#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/ranks/rank_plan.hpp>

namespace creek::mapreduce {

/// Observer of stages that does nothing.
struct unwatched {
  void operator()(stage) const noexcept {}
};

/// Runs a job over an input on all ranks of a communicator, for instance host threads. All
/// ranks call it with equal arguments; rank r maps the splits r, r + P, r + 2P ... of the input,
/// whose `splits()`, `bytes()` and `visit()` of different splits must be callable concurrently.
/// Returns the result on rank 0, an empty one elsewhere. `began(stage)` is called on each rank when
/// one of its stages begins, so the previous one has ended, including its waits for other ranks.
///
/// Options are those of run(), except that `split` is ignored; strategy emit_and_group skips the
/// combiner. A job that fills an array has combined when it has mapped; its `in_order` (dense.hpp)
/// makes results repeat for a given number of ranks, not agree between different numbers. Throws
/// usage_error for options that do not fit the job, before any work. Exceptions of the input or the
/// job are thrown on the rank where they happened, and the program has to end.
template <job Job, class Communicator, input Input, class Began = unwatched>
[[nodiscard]] rank_result<Job> run_on_ranks(const Job& job, Communicator& ranks, Input& from,
                                            const options& chosen = {}, Began began = {}) {
  static_assert(
      requires {
        ranks.rank() + ranks.size();
        ranks.memory();
      },
      "run_on_ranks needs a communicator, see creek/core/messages/communicator.hpp");
  static_assert(std::is_invocable_v<Began&, stage>, "run_on_ranks calls began(stage)");
  detail::check<Job>(chosen);
  rank_plan<Job, Communicator> plan(job, ranks, chosen);
  began(stage::map);
  plan.map(from);
  if constexpr (combines<Job> && !fills<Job>) {
    if (chosen.how != strategy::emit_and_group) {
      began(stage::combine);
      plan.combine();
    }
  }
  began(stage::partition);
  plan.partition();
  began(stage::group);
  plan.group();
  began(stage::reduce);
  plan.reduce();
  if (chosen.sort) {
    began(stage::sort);
    plan.sort();
  }
  began(stage::merge);
  return plan.merge();
}

/// Returns the split size that gives each of `ranks` one split, as evenly as possible.
[[nodiscard]] constexpr std::size_t even_split(std::size_t size, int ranks) noexcept {
  const auto parts = static_cast<std::size_t>(ranks);
  return size < parts ? 1 : (size + parts - 1) / parts;
}

}  // namespace creek::mapreduce
