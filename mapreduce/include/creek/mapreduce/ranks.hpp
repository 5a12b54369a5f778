// SPDX-License-Identifier: Apache-2.0
// run_on_ranks(): a job on cores that share no memory and send each other messages. The jobs are
// those of run(), and so are the results.
#pragma once

#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/rank_plan.hpp>

namespace creek::mapreduce {

/// Watches nothing.
struct unwatched {
  void operator()(stage) const noexcept {}
};

/// Runs a job over an input on all ranks of a communicator, host threads or simulated cores. All
/// ranks call it with equal arguments; rank r maps the splits r, r + P, r + 2P ... of the input, of
/// which only `splits()`, `bytes()` and `visit()` of different splits are used at the same time.
/// Rank 0 returns the result, the others an empty one. `began(stage)` is called on each rank when
/// one of its stages begins, and so the one before has ended, waits for other ranks included.
///
/// Options as run() takes them, but `split` means nothing; strategy emit_and_group leaves out the
/// combiner. A job that fills an array has combined when it has mapped; `in_order` of such a job
/// (dense.hpp) makes results repeat for a number of ranks, not agree among several. Throws
/// usage_error for options that do not fit the job, before any work. What the input or the job
/// throw comes out on the rank where it happened, and the program has to end.
template <job Job, class Communicator, input Input, class Began = unwatched>
[[nodiscard]] rank_result<Job> run_on_ranks(const Job& job, Communicator& ranks, Input& from,
                                            const options& chosen = {}, Began began = {}) {
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

/// The size of a split that gives each of `ranks` one, as even as can be.
[[nodiscard]] constexpr std::size_t even_split(std::size_t size, int ranks) noexcept {
  const auto parts = static_cast<std::size_t>(ranks);
  return size < parts ? 1 : (size + parts - 1) / parts;
}

}  // namespace creek::mapreduce
