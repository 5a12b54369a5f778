// SPDX-License-Identifier: Apache-2.0
// run_on_machines(): runs a job on the ranks of a communicator, each of which has workers of its
// own, as run() uses them. Jobs and results are those of run().
#pragma once

#include <algorithm>
#include <creek/mapreduce/detail/check_options.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/machines/own_splits.hpp>
#include <creek/mapreduce/machines/pairs_by_rank.hpp>
#include <creek/mapreduce/ranks/rank_plan.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

namespace detail {

/// The job without its reduce(), and the order of what that returns, for the pairs of one rank.
template <job Job>
struct combined_part : Job {
  explicit combined_part(const Job& job) : Job(job) {}
  void reduce() const = delete;
  void before() const = delete;
  void order_digits() const = delete;
  void order_size() const = delete;
};

/// The job over messages with pairs of its own.
template <job Job>
struct received_pairs : Job {
  using split_type = text_split;
  using table_type = flat_table<received_pairs>;

  received_pairs(const Job& job, int own_rank, int all_ranks)
      : Job(job),
        rank(static_cast<std::size_t>(own_rank)),
        ranks(static_cast<std::size_t>(all_ranks)) {}

  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    const auto bytes = std::as_bytes(std::span(split.text));
    for (const std::byte* at = bytes.data(); at != bytes.data() + bytes.size();) {
      auto one = get_pair<emitted<typename Job::key_type, typename Job::value_type>>(at);
      if constexpr (requires { this->hash(one.key); }) {
        if (owner_of<Job>(*this, one.key, ranks) != rank) refuse_hash();
      }
      emit(std::move(one.key), std::move(one.value));
    }
  }

  std::size_t rank, ranks;
};

template <class Job>
struct named_job<combined_part<Job>> {
  using type = Job;
};
template <class Job>
struct named_job<received_pairs<Job>> {
  using type = Job;
};

/// Plan whose mappers only put pairs into messages, for jobs that do not combine.
template <job Job>
struct map_to_messages {
  using job_type = Job;
  const Job* job;
  std::vector<pairs_by_rank<Job>>* to;

  template <class Split>
  void map(std::size_t mapper, const Split& split) {
    call_map(*job, split, (*to)[mapper]);
  }
};

/// One run on one rank.
template <job Job, class Communicator>
class machine_run {
 public:
  machine_run(const Job& job, Communicator& ranks, runtime& rt, const options& chosen)
      : job_(&job), ranks_(&ranks), rt_(&rt), chosen_(&chosen) {
    made_.times = {};
  }

  template <class Input>
  rank_result<Job> run_over(Input& from) {
    if (ranks_->size() == 1) {
      result<Job>& all = made_;
      all = rt_->run([&] { return mapreduce::run(*job_, from, *chosen_); });
      return std::move(made_);
    }
    require_equal_input(*ranks_, from);
    own_splits<Input> mine(from, ranks_->rank(), ranks_->size());
    if constexpr (fills<Job>) {
      fill(mine);
    } else {
      gather(group(map(mine)));
    }
    doing("");
    return std::move(made_);
  }

 private:
  using buffers = std::vector<pairs_by_rank<Job>>;
  using record_type = record_of<Job>;
  using records = record_vector<record_type>;
  struct totals {
    std::uint64_t emitted = 0, distinct = 0, sent = 0;
    friend totals operator+(const totals& a, const totals& b) noexcept {
      return {a.emitted + b.emitted, a.distinct + b.distinct, a.sent + b.sent};
    }
  };

  /// Records the stage for whoever names a rank that ends, if the communicator does.
  void doing([[maybe_unused]] const char* stage) {
    if constexpr (requires { ranks_->doing(stage); }) ranks_->doing(stage);
  }

  /// Combines this rank's pairs if the job combines, and puts them into messages.
  template <class Input>
  buffers map(Input& mine) {
    doing("mapping");
    buffers out(rt_->worker_count(), pairs_by_rank<Job>(*job_, ranks_->size()));
    options local = *chosen_;
    local.top = 0;
    local.sort = false;
    if constexpr (!combines<Job>) {
      map_to_messages<Job> plan{job_, &out};
      rt_->run([&] { map_all(made_.times, plan, mine, local, out.size()); });
      for (const auto& each : out) totals_.emitted += each.pairs();
    } else if constexpr (reduces<Job>) {
      put(rt_->run([&] { return mapreduce::run(combined_part<Job>(*job_), mine, local); }), out);
    } else {
      put(rt_->run([&] { return mapreduce::run(*job_, mine, local); }), out);
    }
    return out;
  }

  template <class Result>
  void put(Result&& combined, buffers& out) {
    add_times(combined.times);
    totals_.emitted = combined.emitted;
    const stopwatch watch(made_.times, stage::partition);
    const std::size_t step = (combined.size() + out.size() - 1) / out.size();
    rt_->run([&] {
      for_each_index(out.size(), [&](std::size_t i) {
        const std::size_t begin = std::min(combined.size(), i * step);
        const std::size_t end = std::min(combined.size(), begin + step);
        for_each_fetched(std::span(std::as_const(combined.records)).subspan(begin, end - begin),
                         [&](const auto& one) { out[i](one.key, one.value); });
      });
    });
  }

  /// Exchanges the pairs, and makes records of those that belong to this rank.
  result<received_pairs<Job>> group(buffers out) {
    doing("exchanging pairs");
    std::vector<std::string_view> messages;
    {
      const stopwatch watch(made_.times, stage::partition);
      messages = exchange_pairs(*ranks_, out, messages_, totals_.sent);
    }
    doing("grouping");
    messages_as_splits received(messages);
    options local = *chosen_;
    local.report = nullptr;
    const received_pairs<Job> theirs(*job_, ranks_->rank(), ranks_->size());
    auto made = rt_->run([&] { return mapreduce::run(theirs, received, local); });
    made.times[stage::group] += std::exchange(made.times[stage::map], {});
    add_times(made.times);
    totals_.distinct = made.distinct;
    return made;
  }

  /// Brings the records of all ranks to rank 0, in order if they are sorted.
  void gather(result<received_pairs<Job>> mine) {
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
    made_.emitted = totals_.emitted;
    made_.distinct = totals_.distinct;
    made_.sent_bytes = totals_.sent;
  }

  void merge(std::vector<records>& all) {
    std::size_t total = 0;
    for (const records& each : all) total += each.size();
    if constexpr (sortable<Job>) {
      if (chosen_->sort) {
        std::vector<sorted_run<record_type>> runs;
        for (records& each : all) {
          if (!each.empty()) runs.push_back({each});
        }
        const std::size_t wanted = chosen_->top == 0 ? total : std::min(total, chosen_->top);
        made_.records = rt_->run([&] {
          return merge_runs(std::span<const sorted_run<record_type>>(runs), wanted,
                            record_order<Job>{job_});
        });
        return;
      }
    }
    made_.records = std::move(all[0]);
    made_.records.reserve(total);
    for (records& each : std::span(all).subspan(1)) {
      std::ranges::move(each, std::back_inserter(made_.records));
    }
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
  rank_result<Job> made_;
  byte_arena messages_;
  totals totals_;
};

}  // namespace detail

/// Runs a job over an input on all ranks of a communicator, such as one over MPI (creek/mpi.hpp),
/// with the workers of a runtime on each. All ranks call it with equal arguments, outside of tasks;
/// the runtimes may have different numbers of workers. Rank r maps the splits r, r + P, r + 2P ...
/// of the input, which must have the same splits on all P ranks, for instance the same files.
/// Each rank combines its own pairs, if the job combines, and sends every other rank those whose
/// keys belong there; a single rank calls run(). Returns the result on rank 0, which is that of
/// run(), and an empty one elsewhere.
///
/// Keys and values, and what reduce() returns, need a byte form (wire.hpp); values must not be
/// views. A hash() of the job must give the same in all processes: not default_hash(), which is
/// different in each. Sums of floating-point numbers depend on the number of ranks. Options are
/// those of run(); usage_error is also thrown if ranks have different inputs. Throws usage_error
/// for options that do not fit the job, before any work. Exceptions of the input or the job are
/// thrown on the rank where they happened, and the program has to end.
template <job Job, class Communicator, input Input>
[[nodiscard]] rank_result<Job> run_on_machines(const Job& job, Communicator& ranks, runtime& rt,
                                               Input& from, const options& chosen = {}) {
  static_assert(sendable<typename Job::key_type> && sendable<typename Job::value_type>,
                "pairs go from rank to rank as bytes: give key_type and value_type a form, see "
                "wire.hpp");
  static_assert(!detail::holds_views<typename Job::value_type>() &&
                    !detail::holds_views<typename detail::result_value<Job>::type>(),
                "values that are views lose what they point into: let them be strings");
  static_assert(sendable<typename detail::result_value<Job>::type>,
                "results go to rank 0 as bytes: give what reduce() returns a form, see wire.hpp");
  static_assert(std::is_copy_constructible_v<Job> && !std::is_final_v<Job>,
                "run_on_machines copies the job and derives from it: it must be copyable and not "
                "final");
  detail::check<Job>(chosen);
  return detail::machine_run<Job, Communicator>(job, ranks, rt, chosen).run_over(from);
}

}  // namespace creek::mapreduce
