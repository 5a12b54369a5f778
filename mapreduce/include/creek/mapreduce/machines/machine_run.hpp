// SPDX-License-Identifier: Apache-2.0
// One run of run_on_machines() or run_in_parts() on one rank.
#pragma once

#include <algorithm>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/engine/combine_on_emit.hpp>
#include <creek/mapreduce/engine/emit_and_group.hpp>
#include <creek/mapreduce/engine/plan.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/machines/key_owners.hpp>
#include <creek/mapreduce/machines/map_on_ranks.hpp>
#include <creek/mapreduce/machines/own_splits.hpp>
#include <creek/mapreduce/machines/pairs_by_rank.hpp>
#include <creek/mapreduce/machines/part_of_rank.hpp>
#include <creek/mapreduce/machines/rank_totals.hpp>
#include <creek/mapreduce/machines/sorted_parts.hpp>
#include <creek/mapreduce/ranks/rank_plan.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Plan of a job that does not combine, while it maps: pairs that do not stay go into messages.
template <class Job, class Plan>
struct map_by_rank {
  using job_type = Job;
  Plan* own;
  std::vector<pairs_by_rank<Job>>* messages;

  template <class Split>
  void map(std::size_t mapper, const Split& split) {
    own->map(mapper, split_by_rank<Split, Job>(split, (*messages)[mapper]));
  }
};

template <class Job>
struct plan_on_ranks {
  using type = emit_and_group<Job>;
};
template <combines Job>
struct plan_on_ranks<Job> {
  using type = combine_on_emit<Job>;
};

/// One run on one rank.
template <job Job, class Communicator>
class machine_run {
 public:
  machine_run(const Job& job, Communicator& ranks, runtime& rt, const options& chosen)
      : job_(&job),
        ranks_(&ranks),
        rt_(&rt),
        chosen_(&chosen),
        owners_(job, static_cast<std::size_t>(ranks.size())) {
    made_.times = {};
  }

  /// Returns the result on rank 0.
  template <class Input>
  rank_result<Job> run_over(Input& from) {
    if (ranks_->size() == 1) return run_alone(from);
    own_splits<Input> mine = begin(from);
    if constexpr (fills<Job>) {
      fill(mine);
    } else {
      gather(run_stages(mine));
    }
    doing("");
    return std::move(made_);
  }

  /// Same with other stages: `stages(mine, totals, times)` returns the records of this rank's keys.
  template <class Input, class Stages>
  rank_result<Job> run_over(Input& from, Stages&& stages) {
    own_splits<Input> mine = begin(from);
    gather(stages(mine, totals_, made_.times));
    doing("");
    return std::move(made_);
  }

  /// Returns a part of the result on each rank.
  template <class Input>
  rank_result<Job> run_in_parts(Input& from) {
    if (ranks_->size() == 1) return run_alone(from);
    own_splits<Input> mine = begin(from);
    by_ranges_ = combines<Job> && chosen_->sort && orders_by_key(*job_);
    keep_part(run_stages(mine));
    doing("");
    return std::move(made_);
  }

 private:
  using part_job = part_of_rank<Job>;
  using buffers = std::vector<pairs_by_rank<Job>>;
  using plan_type = typename plan_on_ranks<part_job>::type;
  using record_type = record_of<Job>;
  using records = record_vector<record_type>;

  template <class Input>
  rank_result<Job> run_alone(Input& from) {
    result<Job>& all = made_;
    all = rt_->run([&] { return mapreduce::run(*job_, from, *chosen_); });
    return std::move(made_);
  }
  template <class Input>
  own_splits<Input> begin(Input& from) {
    require_equal_input(*ranks_, from);
    return own_splits<Input>(from, ranks_->rank(), ranks_->size());
  }

  /// Records the stage for whoever names a rank that ends, if the communicator does.
  void doing([[maybe_unused]] const char* stage) {
    if constexpr (requires { ranks_->doing(stage); }) ranks_->doing(stage);
  }

  /// Returns the records of this rank's keys.
  template <class Input>
  result<Job> run_stages(own_splits<Input>& mine) {
    const auto me = static_cast<std::size_t>(ranks_->rank());
    const part_job part(*job_, owners_, me);
    std::optional<plan_type> plan;
    buffers out;
    for (std::size_t i = 0; i < rt_->worker_count(); ++i) {
      out.emplace_back(owners_, keeps_own_pairs<Job> ? me : owners_.ranks());
    }
    doing("mapping");
    rt_->run([&] { plan.emplace(part, *chosen_, out.size()); });
    map(*plan, mine, out);
    if constexpr (combines<Job>) {
      if (by_ranges_) owners_.divide(share_bytes(*ranks_, sample(*plan)));
      rt_->run([&] { put_all(*plan, out); });
    }
    if (!keeps_own_pairs<Job>) rt_->run([&] { plan.emplace(part, *chosen_, out.size()); });
    doing("exchanging pairs");
    std::vector<std::string_view> messages;
    {
      const stopwatch watch(made_.times, stage::partition);
      messages = exchange_pairs(*ranks_, out, messages_, totals_.sent);
    }
    doing("grouping");
    result<Job> made;
    rt_->run([&] { made = group(*plan, messages, out.size()); });
    if (combines<Job> && keeps_own_pairs<Job>) totals_.distinct -= pairs_of(out);
    return made;
  }

  /// Pairs of other ranks go into messages at once, or, if the job combines, when they are combined
  /// on this rank. Then they also stay in the tables, which cannot remove any; they become no
  /// records.
  template <class Input>
  void map(plan_type& plan, own_splits<Input>& mine, buffers& out) {
    if constexpr (combines<Job>) {
      map_on_ranks(made_.times, *ranks_, *rt_, plan, mine, *chosen_);
      totals_.emitted = plan.emitted();
      rt_->run([&] { group_pairs(plan, out.size()); });
    } else {
      map_by_rank<Job, plan_type> by_rank{&plan, &out};
      map_on_ranks(made_.times, *ranks_, *rt_, by_rank, mine, *chosen_);
      totals_.emitted = plan.emitted() + pairs_of(out);
    }
  }

  /// Puts combined pairs into messages.
  void put_all(plan_type& plan, buffers& out) {
    timed(stage::partition, out.size(), [&](std::size_t i) {
      for (std::size_t part = i; part < plan.partitions(); part += out.size()) {
        put(plan, part, out[i]);
      }
    });
  }

  /// Returns some keys of this rank, the same share of all keys on each rank.
  [[nodiscard]] std::vector<std::byte> sample(plan_type& plan) {
    const stopwatch watch(made_.times, stage::partition);
    std::uint64_t keys = 0;
    const auto for_each = [&](auto f) {
      for (std::size_t part = 0; part < plan.partitions(); ++part) {
        plan.for_each(part, [&](const auto& key, const auto&) { f(key); });
      }
    };
    for_each([&](const auto&) { ++keys; });
    const std::uint64_t step = sample_step(*ranks_, keys);
    std::vector<std::byte> bytes;
    for_each([&](const auto& key) {
      if (keys-- % step == 0) wire<typename Job::key_type>::put(bytes, key);
    });
    return bytes;
  }

  static void put(plan_type& plan, std::size_t part, pairs_by_rank<Job>& to) {
    if constexpr (keeps_own_pairs<Job>) {
      plan.for_each(part, [&](const auto& key, const auto& value) { to.put(key, value); });
    } else {
      std::vector<emitted<typename Job::key_type, typename Job::value_type>> all;
      plan.for_each(part, [&](auto& key, auto& value) {
        fetch_text(key);
        all.push_back({std::move(key), std::move(value)});
      });
      for (const auto& one : all) to.put(one.key, one.value);
    }
  }

  [[nodiscard]] static std::uint64_t pairs_of(const buffers& out) {
    std::uint64_t sum = 0;
    for (const auto& each : out) sum += each.pairs();
    return sum;
  }

  /// Adds the pairs that came from other ranks, and makes records.
  result<Job> group(plan_type& plan, std::span<const std::string_view> messages,
                    std::size_t mappers) {
    timed(stage::group, mappers, [&](std::size_t i) {
      for (std::size_t one = i; one < messages.size(); one += mappers) {
        if (!messages[one].empty()) plan.map(i, message_split{{messages[one]}});
      }
    });
    group_pairs(plan, mappers);
    timed(stage::reduce, plan.partitions(), [&](std::size_t i) { plan.reduce(i); });
    if (chosen_->sort) timed(stage::sort, plan.partitions(), [&](std::size_t i) { plan.sort(i); });
    totals_.distinct = plan.distinct();
    const stopwatch watch(made_.times, stage::merge);
    result<Job> made;
    made.records = plan.merge();
    made.keys = plan.take_arena();
    return made;
  }

  void timed(stage s, std::size_t n, function_ref<void(std::size_t)> f) {
    run_stage(made_.times, s, n, f);
  }
  void group_pairs(plan_type& plan, std::size_t mappers) {
    if constexpr (requires { plan.combine(mappers); }) {
      timed(stage::combine, mappers, [&](std::size_t i) { plan.combine(i); });
    }
    timed(stage::group, plan.partitions(), [&](std::size_t i) { plan.group(i); });
  }

  /// Brings the records of all ranks to rank 0, in order if they are sorted.
  void gather(result<Job> mine) {
    doing("gathering results");
    const stopwatch watch(made_.times, stage::merge);
    totals_ = ranks_->reduce(totals_, std::plus{}, 0);
    std::vector<std::byte> message;
    if (ranks_->rank() != 0) {
      for_each_fetched(std::span(std::as_const(mine.records)),
                       [&](const auto& one) { put_pair(message, one.key, one.value); });
    }
    const std::vector<std::uint64_t> sizes = ranks_->gather(std::uint64_t{message.size()}, 0);
    if (ranks_->rank() != 0) {
      ranks_->send(std::span<const std::byte>{message}, 0);
      made_ = {};
      return;
    }
    messages_.adopt(std::move(mine.keys));
    std::vector<records> all(sizes.size());
    all[0] = std::move(mine.records);
    for (std::size_t from = 1; from < sizes.size(); ++from) {
      const auto bytes = static_cast<std::size_t>(sizes[from]);
      const std::span room(reinterpret_cast<std::byte*>(messages_.take(bytes)), bytes);
      ranks_->recv(room, static_cast<int>(from));
      get_pairs(std::span<const std::byte>(room), all[from]);
    }
    merge(all);
    keep_keys();
    put_totals();
  }

  void merge(std::vector<records>& all) {
    std::size_t total = 0;
    for (const records& each : all) total += each.size();
    if constexpr (sortable<Job>) {
      if (chosen_->sort) {
        std::vector<std::span<record_type>> lists(all.begin(), all.end());
        const std::size_t wanted = chosen_->top == 0 ? total : std::min(total, chosen_->top);
        made_.records = rt_->run([&] { return merge_lists(*job_, lists, wanted); });
        return;
      }
    }
    made_.records = std::move(all[0]);
    made_.records.reserve(total);
    for (records& each : std::span(all).subspan(1)) {
      std::ranges::move(each, std::back_inserter(made_.records));
    }
  }

  /// Leaves this rank its part: a range of the order, or the records of its own keys.
  void keep_part(result<Job> mine) {
    doing("ordering parts");
    const stopwatch watch(made_.times, stage::merge);
    totals_ = ranks_->allreduce(totals_, std::plus{});
    made_.records = std::move(mine.records);
    if constexpr (sortable<Job>) {
      if (chosen_->sort && !by_ranges_) {
        made_.records = sorted_parts<Job, Communicator>(*job_, *ranks_, *rt_)
                            .divide(std::move(made_.records), messages_);
      }
    }
    made_.keys = std::move(mine.keys);
    made_.keys.adopt(std::move(messages_));
    put_totals();
  }

  void put_totals() {
    made_.emitted = totals_.emitted;
    made_.distinct = totals_.distinct;
    made_.sent_bytes = totals_.sent;
  }

  /// Keeps what keys point into: all messages, or copies of few keys.
  void keep_keys() {
    if constexpr (holds_views<typename Job::key_type>()) {
      if (chosen_->top == 0) return made_.keys.adopt(std::move(messages_));
      for (record_type& one : made_.records) {
        for_each_view(one.key, [&](std::string_view& view) { view = made_.keys.keep(view); });
      }
    }
  }

  /// Fills an array on each rank, and combines them along a tree.
  template <class Input>
  void fill(Input& mine) {
    static_assert(std::is_trivially_copyable_v<typename Job::value_type>,
                  "arrays go from rank to rank as bytes: value_type must be trivially copyable");
    doing("mapping");
    options local = *chosen_;
    local.top = 0;
    local.sort = false;
    auto filled = rt_->run([&] { return mapreduce::run(*job_, mine, local); });
    add_times(filled.times);
    doing("combining arrays");
    const stopwatch watch(made_.times, stage::merge);
    std::vector<typename Job::value_type> values;
    for (auto& one : filled.records) values.push_back(std::move(one.value));
    ranks_->reduce(
        std::span(values),
        [this](typename Job::value_type a, typename Job::value_type b) {
          job_->combine(a, std::move(b));
          return a;
        },
        0);
    if (ranks_->rank() != 0) {
      made_ = {};
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) filled.records[i].value = std::move(values[i]);
    if constexpr (sortable<Job>) {
      if (chosen_->sort) {
        std::ranges::sort(filled.records, [this](const record_type& a, const record_type& b) {
          return comes_before(*job_, a, b);
        });
      }
    }
    if (chosen_->top != 0 && chosen_->top < filled.records.size()) {
      filled.records.erase(filled.records.begin() + static_cast<std::ptrdiff_t>(chosen_->top),
                           filled.records.end());
    }
    made_.records = std::move(filled.records);
    made_.distinct = values.size();
  }

  void add_times(const stage_times& more) {
    for (std::size_t i = 0; i < stage_count; ++i) made_.times.spent[i] += more.spent[i];
  }

  const Job* job_;
  Communicator* ranks_;
  runtime* rt_;
  const options* chosen_;
  key_owners<Job> owners_;
  bool by_ranges_ = false;  // of keys: then records of a rank are a range of the order
  rank_result<Job> made_;
  byte_arena messages_;
  rank_totals totals_;
};

}  // namespace creek::mapreduce::detail
