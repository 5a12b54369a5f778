// SPDX-License-Identifier: Apache-2.0
// Sorted records of several ranks: merged on one, or divided among all by ranges of the order.
#pragma once

#include <algorithm>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/engine/merge_runs.hpp>
#include <creek/mapreduce/engine/record_order.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/machines/key_owners.hpp>
#include <creek/mapreduce/machines/pair_messages.hpp>
#include <creek/mapreduce/machines/pairs_by_rank.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Returns the first `wanted` records of sorted lists, merged on the workers of the current
/// runtime. Leaves the lists moved from.
template <class Job>
[[nodiscard]] record_vector<record_of<Job>> merge_lists(
    const Job& job, std::span<const std::span<record_of<Job>>> lists, std::size_t wanted) {
  using record_type = record_of<Job>;
  const record_order<Job> order{&job};
  std::vector<sorted_run<record_type>> runs;
  for (const auto& list : lists) {
    if (!list.empty()) runs.push_back({list});
  }
  std::vector<std::vector<std::uint64_t>> digits(runs.size());
  if constexpr (record_order<Job>::has_digits) {
    for_each_index(runs.size(), [&](std::size_t i) {
      digits[i].reserve(runs[i].records.size());
      for_each_fetched(std::span<const record_type>(runs[i].records),
                       [&](const record_type& one) { digits[i].push_back(order.digits(one, 0)); });
      runs[i].digits = digits[i].data();
    });
  }
  return merge_runs(std::span<const sorted_run<record_type>>(runs), wanted, order);
}

/// Divides sorted records by regular samples of all ranks [Shi 1992]: rank r gets the r-th range of
/// the order. The ranges have a similar number of records, unless many are equal.
template <class Job, class Communicator>
class sorted_parts {
 public:
  using record_type = record_of<Job>;
  using records = record_vector<record_type>;

  sorted_parts(const Job& job, Communicator& ranks, runtime& rt)
      : job_(&job),
        ranks_(&ranks),
        rt_(&rt),
        size_(static_cast<std::size_t>(ranks.size())),
        me_(static_cast<std::size_t>(ranks.rank())) {}

  /// Returns the records of this rank's range. All ranks call it with their sorted records. Views
  /// in keys point into what they pointed into, or into `memory`.
  [[nodiscard]] records divide(records mine, byte_arena& memory) {
    const std::vector<std::size_t> cuts = cut(mine);
    const std::size_t workers = rt_->worker_count();
    const auto slice = [&](std::size_t rank, std::size_t worker) {
      const std::size_t size = cuts[rank + 1] - cuts[rank];
      const std::size_t first = size * worker / workers, end = size * (worker + 1) / workers;
      return std::span(mine).subspan(cuts[rank] + first, end - first);
    };
    std::vector<outgoing> out(workers);
    for (outgoing& each : out) each.parts.resize(size_);
    rt_->run([&] {
      for_each_index(workers, [&](std::size_t worker) {
        for (std::size_t rank = 0; rank < size_; ++rank) {
          if (rank != me_) put(out[worker].part(rank), slice(rank, worker));
        }
      });
    });
    std::uint64_t sent = 0;
    const std::vector<std::string_view> messages = exchange_pairs(*ranks_, out, memory, sent);
    return rt_->run([&] {
      std::vector<records> received(messages.size());
      for_each_index(messages.size(), [&](std::size_t i) { received[i] = get(messages[i]); });
      std::vector<std::span<record_type>> lists(received.begin(), received.end());
      for (std::size_t worker = 0; worker < workers; ++worker) {
        lists.push_back(slice(me_, worker));
      }
      std::size_t total = 0;
      for (const auto& list : lists) total += list.size();
      return merge_lists(*job_, std::span<const std::span<record_type>>(lists), total);
    });
  }

 private:
  /// Samples per rank's range: enough for ranges of similar length. An estimate.
  static constexpr std::size_t samples_per_part = 64;

  using key_type = decltype(record_type::key);
  using value_type = decltype(record_type::value);

  /// Messages of one worker to all ranks.
  struct outgoing {
    std::vector<message_blocks> parts;
    [[nodiscard]] message_blocks& part(std::size_t rank) noexcept { return parts[rank]; }
  };

  /// Returns where the ranges of all ranks begin in this rank's records, and the end of the last.
  [[nodiscard]] std::vector<std::size_t> cut(std::span<const record_type> mine) {
    const std::uint64_t total = ranks_->allreduce(std::uint64_t{mine.size()}, std::plus{});
    const auto step =
        static_cast<std::size_t>(std::max<std::uint64_t>(1, total / (samples_per_part * size_)));
    std::vector<std::byte> sample;
    for (std::size_t i = step * me_ / size_; i < mine.size(); i += step) {
      put_pair(sample, mine[i].key, mine[i].value);
    }
    const std::vector<std::byte> all = share_bytes(*ranks_, sample);
    std::vector<record_type> splitters;
    get_pairs(std::span<const std::byte>(all), splitters);
    const record_order<Job> before{job_};
    std::ranges::sort(splitters, before);

    std::vector<std::size_t> cuts(size_ + 1, mine.size());
    cuts[0] = 0;
    for (std::size_t rank = 1; rank < size_ && !splitters.empty(); ++rank) {
      const record_type& first = splitters[rank * splitters.size() / size_];
      const auto at = std::ranges::partition_point(
          mine, [&](const record_type& one) { return before(one, first); });
      // Increasing in any case: keys in files that are overwritten may change.
      cuts[rank] = std::max(cuts[rank - 1], static_cast<std::size_t>(at - mine.begin()));
    }
    return cuts;
  }

  /// Writes one message: the number of records, then the records.
  static void put(message_blocks& to, std::span<const record_type> from) {
    if (from.empty()) return;
    const std::uint64_t count = from.size();
    if constexpr (has_sized_form<key_type> && has_sized_form<value_type>) {
      std::size_t bytes = sizeof count;
      for (const record_type& one : from) bytes += wire_size(one.key) + wire_size(one.value);
      std::byte* at = to.take(bytes);
      write_wire(at, count);
      for_each_fetched(from, [&](const record_type& one) {
        write_wire(at, one.key);
        write_wire(at, one.value);
      });
    } else {
      std::vector<std::byte> all;
      wire<std::uint64_t>::put(all, count);
      for (const record_type& one : from) put_pair(all, one.key, one.value);
      std::memcpy(to.take(all.size()), all.data(), all.size());
    }
  }
  [[nodiscard]] static records get(std::string_view message) {
    records made;
    if (message.empty()) return made;
    const auto bytes = std::as_bytes(std::span(message));
    const std::byte* at = bytes.data();
    made.reserve(static_cast<std::size_t>(wire<std::uint64_t>::get(at)));
    while (at != bytes.data() + bytes.size()) made.push_back(get_pair<record_type>(at));
    return made;
  }

  const Job* job_;
  Communicator* ranks_;
  runtime* rt_;
  std::size_t size_, me_;
};

}  // namespace creek::mapreduce::detail
