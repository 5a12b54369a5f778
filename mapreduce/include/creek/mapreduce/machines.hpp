// SPDX-License-Identifier: Apache-2.0
// run_on_machines(), run_in_parts(): run a job on the ranks of a communicator, each of which has
// workers of its own, as run() uses them. Jobs and results are those of run().
#pragma once

#include <creek/core/error.hpp>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/machines/machine_run.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/ranks/rank_plan.hpp>
#include <creek/tasking/runtime.hpp>
#include <type_traits>

namespace creek::mapreduce {

namespace detail {

/// Checks what jobs on several machines need.
template <job Job>
struct machine_requirements {
  static_assert(sendable<typename Job::key_type> && sendable<typename Job::value_type>,
                "pairs go from rank to rank as bytes: give key_type and value_type a form, see "
                "wire.hpp");
  static_assert(!detail::holds_views<typename Job::value_type>() &&
                    !detail::holds_views<typename detail::result_value<Job>::type>(),
                "values that are views lose what they point into: let them be strings");
  static_assert(
      sendable<typename detail::result_value<Job>::type>,
      "results go from rank to rank as bytes: give what reduce() returns a form, see wire.hpp");
  static_assert(std::is_copy_constructible_v<Job> && !std::is_final_v<Job>,
                "run_on_machines copies the job and derives from it: it must be copyable and not "
                "final");
  static constexpr bool met = true;
};

}  // namespace detail

/// Runs a job over an input on all ranks of a communicator, such as one over MPI (creek/mpi.hpp),
/// with the workers of a runtime on each. All ranks call it with equal arguments, outside of tasks;
/// the runtimes may have different numbers of workers. Rank r begins with the splits r, r + P,
/// r + 2P ... of the input, which must have the same splits, with the same contents, on all P
/// ranks: for instance the same files. A rank without splits takes some of another, if the input
/// has `splits_may_move()`, the job fills no array, and the calling thread has no object_space.
/// Each rank combines its own pairs as they are emitted, if the job combines (whatever strategy is
/// chosen), and sends every other rank those whose keys belong there; a single rank calls run().
/// Returns the result on rank 0, which is that of
/// run(), and an empty one elsewhere.
///
/// Keys and values, and what reduce() returns, need a byte form (wire.hpp); values must not be
/// views. A hash() of the job must give the same in all processes: not default_hash(), which is
/// different in each. Sums of floating-point numbers depend on the number of ranks and, if splits
/// move, on time. Options are those of run(); usage_error is also thrown if ranks have different
/// inputs. Throws usage_error for options that do not fit the job, before any work. Exceptions of
/// the input or the job are thrown on the rank where they happened, and the program has to end.
template <job Job, class Communicator, input Input>
[[nodiscard]] rank_result<Job> run_on_machines(const Job& job, Communicator& ranks, runtime& rt,
                                               Input& from, const options& chosen = {}) {
  static_assert(detail::machine_requirements<Job>::met);
  detail::check<Job>(chosen);
  return detail::machine_run<Job, Communicator>(job, ranks, rt, chosen).run_over(from);
}

/// Same, but leaves a part of the result on each rank: no rank holds all of it. The parts in the
/// order of the ranks are the result of run(): if it is sorted, each part is a range of the order
/// (records that are equal in it are on one rank), else that of a rank's own keys. Parts may be
/// empty. `emitted`, `distinct` and `sent_bytes` are those of all ranks, on each of them. A part
/// lives as long as the input, for keys that are views. Throws usage_error for `top`, which selects
/// on rank 0: use run_on_machines(). Jobs that fill an array have their result there, too.
template <job Job, class Communicator, input Input>
[[nodiscard]] rank_result<Job> run_in_parts(const Job& job, Communicator& ranks, runtime& rt,
                                            Input& from, const options& chosen = {}) {
  static_assert(detail::machine_requirements<Job>::met);
  static_assert(!fills<Job>, "an array has no parts: use run_on_machines");
  detail::check<Job>(chosen);
  if (chosen.top != 0) {
    throw usage_error("run_in_parts: options.top must be 0: use run_on_machines to select");
  }
  return detail::machine_run<Job, Communicator>(job, ranks, rt, chosen).run_in_parts(from);
}

}  // namespace creek::mapreduce
