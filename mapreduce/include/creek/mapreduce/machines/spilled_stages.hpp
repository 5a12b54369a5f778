// SPDX-License-Identifier: Apache-2.0
// Stages of a run on ranks with a memory limit. While a rank maps, its pairs go to a file. Then all
// ranks exchange them in rounds: each reads pairs until its messages are full, sends them, and
// gives those that it receives to a spill_plan, which writes them to another file when its memory
// is full. At the end that plan groups the pairs, as in one process.
#pragma once

#include <algorithm>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/detail/stages.hpp>
#include <creek/mapreduce/detail/stopwatch.hpp>
#include <creek/mapreduce/engine/plan.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/machines/key_owners.hpp>
#include <creek/mapreduce/machines/map_on_ranks.hpp>
#include <creek/mapreduce/machines/own_splits.hpp>
#include <creek/mapreduce/machines/pairs_by_rank.hpp>
#include <creek/mapreduce/machines/part_of_rank.hpp>
#include <creek/mapreduce/machines/rank_totals.hpp>
#include <creek/mapreduce/machines/spilled_pairs.hpp>
#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/spill.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/spill/spill_plan.hpp>
#include <creek/mapreduce/spill/spill_shares.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Division of a rank's limit while pairs are exchanged: a quarter is for messages, and three
/// quarters for pairs that have arrived.
struct rank_shares {
  spill_shares all, arrived;
  std::size_t room;  ///< bytes of a message from one worker to one rank

  rank_shares(const memory_limit& limit, std::size_t workers, std::size_t ranks)
      : all(limit, workers), arrived({limit.bytes / 4 * 3, {}}, workers) {
    arrived.largest = all.largest;  // no pair is refused that was mapped
    arrived.limit = all.limit;      // for messages of errors
    // Blocks of messages may be half empty, and as many bytes are received as sent.
    room = std::max<std::size_t>(all.worker / 16 / ranks, min_room);
  }

 private:
  static constexpr std::size_t min_room = 4096;
};

/// Passes on the records of one rank's keys.
template <job Job>
class target_of_part final : public record_target<part_of_rank<Job>> {
 public:
  explicit target_of_part(record_target<Job>& to) : to_(&to) {}
  void add(std::size_t taker, std::size_t part, typename Job::key_type&& key,
           typename result_value<Job>::type&& value) override {
    to_->add(taker, part, std::move(key), std::move(value));
  }
  void release(std::size_t taker) override { to_->release(taker); }

 private:
  record_target<Job>* to_;
};

/// The stages of one rank.
template <job Job, class Communicator>
class spilled_stages {
 public:
  /// The meter counts the memory in use. Throws usage_error if the limit is too small.
  spilled_stages(const Job& job, Communicator& ranks, runtime& rt, const options& chosen,
                 const memory_limit& limit, spill_meter& meter)
      : job_(&job),
        ranks_(&ranks),
        rt_(&rt),
        chosen_(&chosen),
        directory_(limit.directory),
        owners_(job, static_cast<std::size_t>(ranks.size())),
        shares_(limit, rt.worker_count(), owners_.ranks()),
        meter_(&meter) {
    check<Job>(chosen, limit, workers());
  }

  [[nodiscard]] const spill_shares& shares() const noexcept { return shares_.all; }
  [[nodiscard]] std::size_t workers() const { return rt_->worker_count(); }
  /// Returns the number of partitions from which records come.
  [[nodiscard]] std::size_t partitions() const {
    return spill_mapper<part_job>::partitions(*chosen_, shares_.arrived);
  }
  /// Returns the numbers of this rank.
  [[nodiscard]] const rank_totals& totals() const noexcept { return totals_; }
  /// Returns the bytes that were written to files here, without those of the target.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }

  /// Maps the splits of this rank, and makes records of its keys, which are those of a range of the
  /// order if `by_ranges`. `room` bytes of each worker's share are for the target. All ranks call
  /// it once, outside of tasks.
  template <class Input>
  void run(own_splits<Input>& mine, bool by_ranges, std::size_t room, record_target<Job>& target,
           stage_times& times) {
    const part_job part(*job_, owners_, static_cast<std::size_t>(ranks_->rank()));
    spill_file file(directory_);
    spill_plan<part_job> plan(part, *chosen_, shares_.arrived, shares_.all.worker - room, file,
                              *meter_, workers());
    map_and_exchange(mine, by_ranges, plan, times);
    doing("grouping");
    target_of_part<Job> records(target);
    rt_->run([&] { group_spilled(plan, workers(), records, times); });
    totals_.distinct = plan.distinct();
    file_bytes_ += file.bytes();
    doing("");
  }

 private:
  using part_job = part_of_rank<Job>;

  void doing([[maybe_unused]] const char* stage) {
    if constexpr (requires { ranks_->doing(stage); }) ranks_->doing(stage);
  }

  template <class Input>
  void map_and_exchange(own_splits<Input>& mine, bool by_ranges, spill_plan<part_job>& plan,
                        stage_times& times) {
    doing("mapping");
    spill_file file(directory_);
    spilled_pairs<Job> pairs(*job_, *chosen_, shares_.all, file, *meter_, workers());
    map_on_ranks(times, *ranks_, *rt_, pairs, mine, *chosen_);
    rt_->run([&] {
      run_stage(times, stage::partition, workers(), [&](std::size_t i) { pairs.write_rest(i); });
    });
    pairs.finish();
    totals_.emitted = pairs.emitted();
    if (by_ranges) divide(pairs, times);
    doing("exchanging pairs");
    std::vector<bounded_messages> out;
    for (std::size_t i = 0; i < workers(); ++i) out.emplace_back(owners_.ranks(), shares_.room);
    while (ranks_->allreduce(pairs.is_empty() ? 0 : 1, std::plus{}) != 0) {
      exchange_some(pairs, out, plan, times);
    }
    file_bytes_ += file.bytes();
  }

  /// Lets each rank own a range of keys.
  void divide(const spilled_pairs<Job>& pairs, stage_times& times) {
    const stopwatch watch(times, stage::partition);
    owners_.divide(share_bytes(*ranks_, pairs.sample(sample_step(*ranks_, pairs.pairs()))));
  }

  /// Sends and receives messages of limited size.
  void exchange_some(spilled_pairs<Job>& pairs, std::vector<bounded_messages>& out,
                     spill_plan<part_job>& plan, stage_times& times) {
    rt_->run([&] {
      run_stage(times, stage::partition, workers(),
                [&](std::size_t i) { pairs.fill(i, owners_, out[i]); });
    });
    byte_arena memory;
    std::vector<std::string_view> messages;
    memory_charge charge(*meter_);
    {
      const stopwatch watch(times, stage::partition);
      std::size_t written = 0;
      for (const bounded_messages& each : out) written += each.capacity();
      messages = exchange_pairs(*ranks_, out, memory, totals_.sent);
      charge.set(written + memory.bytes());
      for (bounded_messages& each : out) each.clear();
    }
    charge.set(memory.bytes());
    rt_->run([&] {
      run_stage(times, stage::group, workers(), [&](std::size_t i) {
        for (std::size_t one = i; one < messages.size(); one += workers()) {
          if (!messages[one].empty()) plan.map(i, message_split{{messages[one], false}});
        }
      });
    });
  }

  const Job* job_;
  Communicator* ranks_;
  runtime* rt_;
  const options* chosen_;
  std::string directory_;
  key_owners<Job> owners_;
  rank_shares shares_;
  spill_meter* meter_;
  rank_totals totals_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace creek::mapreduce::detail
