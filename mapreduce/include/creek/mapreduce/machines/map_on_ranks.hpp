// SPDX-License-Identifier: Apache-2.0
// Maps the splits of an input on all ranks. They are dealt to the ranks in turns; a rank that has
// mapped its own takes some of another's, if the input allows that.
#pragma once

#include <concepts>
#include <creek/core/objects/object_space.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/engine/plan.hpp>
#include <creek/mapreduce/machines/own_splits.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/tasking/movable_tasks.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace creek::mapreduce {

/// Inputs that say whether any rank may visit any split. Visits that share work, as those of one
/// compressed file, stay on a rank.
template <class Input>
concept moves_splits = requires(const Input& from) {
  { from.splits_may_move() } -> std::convertible_to<bool>;
};

namespace detail {

/// Maps a split on one mapper of a rank.
struct split_mapper {
  void* context = nullptr;
  void (*map)(void* context, std::size_t mapper, std::size_t split) = nullptr;
  std::size_t mapper = 0;
};

/// The movable task that maps a split.
inline void run_split_mapper(task_bag<split_mapper>& bag, std::uint64_t split) {
  const split_mapper& here = bag.result();
  here.map(here.context, here.mapper, static_cast<std::size_t>(split));
}

/// Communicators over which an object_space can be made.
template <class Communicator>
concept makes_rank_messages = requires(Communicator& ranks) {
  ranks.make_rank_messages();
}
|| requires(Communicator& ranks) {
  ranks.memory();
};

/// Returns whether splits may move between the ranks; all ranks call it.
template <class Communicator, class Input>
[[nodiscard]] bool may_move_splits(Communicator& ranks, const Input& from) {
  const bool here = from.splits_may_move() && !object_space::exists();
  return ranks.allreduce(here ? 1 : 0, std::multiplies{}) != 0;
}

/// Calls `f(mapper, split)` for this rank's splits and those of others that it takes. Mappers are
/// as many as the workers; each is one task at a time.
template <class Communicator, class Input, class F>
void map_moving_splits(Communicator& ranks, runtime& rt, const own_splits<Input>& mine, F& f) {
  object_space space(ranks);
  movable_tasks<split_mapper> tasks(space, rt);
  for (std::size_t i = mine.splits(); i > 0; --i) {  // the last one runs first
    tasks.spawn<&run_split_mapper>(std::uint64_t{mine.number(i - 1)});
  }
  std::vector<split_mapper> mappers;
  for (std::size_t i = 0; i < rt.worker_count(); ++i) {
    mappers.push_back({&f,
                       [](void* context, std::size_t mapper, std::size_t split) {
                         (*static_cast<F*>(context))(mapper, split);
                       },
                       i});
  }
  tasks.run_with(std::span(mappers));
}

/// Maps all splits, on all ranks, with a plan on each.
template <class Communicator, class Plan, class Input>
void map_on_ranks(stage_times& times, Communicator& ranks, runtime& rt, Plan& plan,
                  own_splits<Input>& mine, const options& chosen) {
  if constexpr (moves_splits<Input> && makes_rank_messages<Communicator>) {
    if (may_move_splits(ranks, mine.input())) {
      const stopwatch watch(times, stage::map);
      auto map = [&](std::size_t mapper, std::size_t split) {
        check_stop(chosen);
        map_split(plan, mine.input(), chosen, mapper, split);
        report_split(chosen);
      };
      return map_moving_splits(ranks, rt, mine, map);
    }
  }
  rt.run([&] { map_all(times, plan, mine, chosen, rt.worker_count()); });
}

}  // namespace detail
}  // namespace creek::mapreduce
