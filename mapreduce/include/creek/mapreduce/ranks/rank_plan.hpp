// SPDX-License-Identifier: Apache-2.0
// The seven stages of a job on one rank of a message-passing program, with its own buffer and
// memory, and messages. run_on_ranks() (ranks.hpp) calls them. Source: MapReduce on the SCC
// [Papagiannis 2011]. Differences: a pass of the radix sort handles keys eight
// bytes at a time, and a partition's pairs are made contiguous only when they are sent.
#pragma once

#include <algorithm>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/engine/key_groups.hpp>
#include <creek/mapreduce/engine/plan.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/ranks/rank_costs.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Result of run_on_ranks() and run_on_machines(): complete at rank 0, empty elsewhere; of
/// run_in_parts(): the part of this rank. Views in keys point into `keys`. After run_on_ranks()
/// `times` are zero, because only the observer of the stages knows which clock to read.
template <job Job>
struct rank_result : result<Job> {
  /// Bytes sent between the ranks; of the two on machines, those of pairs on their way to reduce().
  std::uint64_t sent_bytes = 0;
};

namespace detail {

/// Hash djb2, by which the runtime of [Papagiannis 2011] partitions strings.
[[nodiscard]] inline std::uint32_t djb2(std::string_view key) noexcept {
  std::uint32_t h = 5381;
  for (const char c : key) h = h * 33 + static_cast<unsigned char>(c);
  return h;
}

/// Returns the rank, in [0, ranks), that gets all values of a key.
template <class Job>
[[nodiscard]] std::size_t rank_of(const Job& job, const typename Job::key_type& key,
                                  std::size_t ranks) {
  if constexpr (requires { job.hash(key); }) {
    return static_cast<std::size_t>(job.hash(key) % ranks);
  } else if constexpr (byte_string<typename Job::key_type>) {
    return djb2(key) % ranks;
  } else {
    return static_cast<std::size_t>(repeatable_hash(key) % ranks);
  }
}

/// Returns the number of bytes that a hash reads.
template <class Key>
[[nodiscard]] std::size_t hashed_bytes(const Key& key) noexcept {
  if constexpr (byte_string<Key>) {
    return std::string_view(key).size();
  } else if constexpr (tuple_like<Key>) {
    return std::apply([](const auto&... parts) { return (hashed_bytes(parts) + ... + 0); }, key);
  } else {
    return sizeof(Key);
  }
}

}  // namespace detail

/// Stages of one rank. Each is called once, in this order (combine() may be omitted, and sort()
/// without options.sort), and in the same way on all ranks: partition() and merge() communicate.
template <job Job, class Communicator>
class rank_plan {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using record_type = record_of<Job>;
  using groups = key_groups<key_type, value_type>;
  using ref = typename groups::ref;

  static_assert(detail::job_requirements<Job>::met);
  static_assert(key_digits<key_type>::available || std::totally_ordered<key_type>,
                "grouping needs keys that are integers, byte strings or ordered");
  static_assert(sendable<key_type>,
                "keys go from core to core as bytes: give key_type a form, see wire.hpp");
  static_assert(sendable<value_type>,
                "values go from core to core as bytes: give value_type a form, see wire.hpp; what "
                "points to memory of one core, as a unique_ptr does, has none");
  static_assert(sendable<decltype(record_type::value)>,
                "results go to rank 0 as bytes: give what reduce() returns a form, see wire.hpp");

  rank_plan(const Job& job, Communicator& ranks, const options& chosen)
      : job_{&job},
        ranks_{&ranks},
        options_{&chosen},
        costs_{ranks.memory()},
        size_{static_cast<std::size_t>(ranks.size())},
        me_{static_cast<std::size_t>(ranks.rank())},
        buffer_{size_} {}

  /// Maps every size-th split of the input, from the rank's own number on. A job that fills an
  /// array fills one per rank; each of its elements becomes a pair.
  template <class Input>
  void map(Input& from) {
    if constexpr (fills<Job>) filled_.assign(dense_keys_of(*job_), value_type{});
    for (std::size_t i = me_; i < from.splits(); i += size_) {
      if (options_->stop.stop_requested()) throw error(ECANCELED, "MapReduce run stopped");
      const auto map_one = [&](const auto& split) { map_split(split); };
      if constexpr (detail::in_order<Job>) {
        detail::visit_alone(from, i, map_one);
      } else {
        from.visit(i, map_one);
      }
      if (options_->report != nullptr) {
        options_->report->splits_done.fetch_add(1, std::memory_order_relaxed);
      }
    }
    if constexpr (fills<Job>) emit_filled();
    totals_.emitted = buffer_.pairs();
  }

  /// Groups and combines the pairs for each rank, so that a key is sent once.
  void combine() requires combines<Job> {
    buffer combined(size_);
    for (std::size_t part = 0; part < size_; ++part) {
      const groups same = group_pairs(buffer_.pairs_of(part), buffer_.bytes(part));
      same.for_each(
          [&](std::span<const ref> run) { combined.add(part, run[0].pair->key, fold(run)); });
      costs_.reduced(same.pairs(), buffer_.bytes(part));
    }
    costs_.emitted(combined.pairs(), combined.bytes());
    buffer_ = std::move(combined);
  }

  /// Sends every rank its partition: first the sizes, then in step k to rank + k, from rank - k.
  void partition() {
    std::vector<std::uint64_t> out(size_), in(size_);
    for (std::size_t part = 0; part < size_; ++part) out[part] = buffer_.bytes(part);
    ranks_->all_to_all(std::span<const std::uint64_t>{out}, std::span<std::uint64_t>{in});
    totals_.sent_bytes += (size_ - 1) * sizeof out[0];
    messages_.push_back(buffer_.message(me_));
    for (std::size_t step = 1; step < size_; ++step) {
      const std::size_t to = (me_ + step) % size_, from = (me_ + size_ - step) % size_;
      const std::vector<std::byte> message = buffer_.message(to);
      std::vector<std::byte>& answer = messages_.emplace_back(in[from]);
      costs_.sent(message.size(), buffer_.bytes());
      ranks_->exchange(std::span<const std::byte>{message}, static_cast<int>(to),
                       std::span<std::byte>{answer}, static_cast<int>(from));
      costs_.received(answer.size());
      totals_.sent_bytes += message.size();
    }
    buffer_ = buffer(0);
  }

  /// Brings equal keys of this rank together.
  void group() {
    std::vector<pair> all;
    std::size_t bytes = 0;
    for (const std::vector<std::byte>& message : messages_) {
      get_pairs(message, all);
      bytes += message.size();
    }
    groups_ = group_pairs(std::move(all), bytes);
    grouped_bytes_ = bytes;
  }

  /// Makes a record per key, in memory of exactly the needed size.
  void reduce() {
    records_.reserve(groups_.keys());
    groups_.for_each([&](std::span<const ref> run) {
      const key_type& key = run[0].pair->key;
      if constexpr (reduces<Job>) {
        records_.push_back(
            {key, detail::call_reduce(*job_, options_->failures, key, values<Job>(run))});
      } else {
        records_.push_back({key, fold(run)});
      }
    });
    totals_.distinct = groups_.keys();
    costs_.reduced(groups_.pairs(), grouped_bytes_);
    costs_.emitted(records_.size(), records_.size() * sizeof(record_type));
    groups_ = groups{};
  }

  /// Orders the rank's records; with options.top, drops those that cannot be among the first.
  void sort() {
    if constexpr (sortable<Job>) {
      std::uint64_t compared = 0;
      const auto wanted =
          records_.begin() + static_cast<std::ptrdiff_t>(wanted_of(records_.size()));
      if (wanted == records_.end()) {
        std::sort(records_.begin(), records_.end(), counting(compared));
      } else {
        std::partial_sort(records_.begin(), wanted, records_.end(), counting(compared));
      }
      costs_.sorted(records_.size(), sizeof(record_type), compared);
      records_.erase(wanted, records_.end());
    }
  }

  /// Brings all records to rank 0 along a binomial tree; the result is sorted if they are.
  [[nodiscard]] rank_result<Job> merge() {
    for (std::size_t reach = 1; reach < size_; reach *= 2) {
      if ((me_ & reach) != 0) {
        send_records(static_cast<int>(me_ - reach));
        return {};
      }
      if (me_ + reach < size_) receive_records(static_cast<int>(me_ + reach));
    }
    rank_result<Job> made;
    made.records = std::move(records_);
    made.emitted = totals_.emitted;
    made.distinct = totals_.distinct;
    made.sent_bytes = totals_.sent_bytes;
    if constexpr (detail::holds_views<key_type>()) {
      const auto keep = [&](std::string_view& view) { view = made.keys.keep(view); };
      for (record_type& one : made.records) detail::for_each_view(one.key, keep);
    }
    return made;
  }

 private:
  using pair = typename groups::pair;
  using buffer = pair_buffer<key_type, value_type>;

  /// Totals that each rank sends to rank 0 ahead of its records.
  struct totals {
    std::uint64_t emitted = 0;
    std::uint64_t distinct = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t message_bytes = 0;
  };

  struct emitter {
    rank_plan& by;
    void operator()(const key_type& key, const value_type& value) {
      by.hashed_bytes_ += detail::hashed_bytes(key);
      by.buffer_.add(detail::rank_of(*by.job_, key, by.size_), key, value);
    }
  };

  template <class Split>
  void map_split(const Split& split) {
    const std::size_t length = detail::size_in_bytes(split);
    costs_.scanned(length);
    if constexpr (fills<Job>) {
      job_->fill(split, std::span<value_type>{filled_});
    } else {
      emit_by([&](emitter emit) { detail::call_map(*job_, split, emit); });
    }
    if (options_->report != nullptr) {
      options_->report->bytes_done.fetch_add(length, std::memory_order_relaxed);
    }
  }

  void emit_filled() {
    emit_by([&](emitter emit) {
      for (std::size_t key = 0; key < filled_.size(); ++key) {
        emit(static_cast<key_type>(key), filled_[key]);
      }
    });
    filled_ = {};
  }

  /// Calls `f(emitter)` and charges the pairs that it emits.
  template <class F>
  void emit_by(F&& f) {
    const std::uint64_t pairs = buffer_.pairs();
    const std::size_t bytes = buffer_.bytes();
    hashed_bytes_ = 0;
    f(emitter{*this});
    detail::charge_units(work::byte_hashed, hashed_bytes_);
    costs_.emitted(buffer_.pairs() - pairs, buffer_.bytes() - bytes);
  }

  groups group_pairs(std::vector<pair> pairs, std::size_t bytes) const {
    groups same(std::move(pairs));
    costs_.grouped(same.pairs(), bytes, same.effort());
    return same;
  }

  /// Returns all values of a key combined into one.
  [[nodiscard]] value_type fold(std::span<const ref> run) const {
    value_type sum = std::move(run[0].pair->value);
    for (const ref& r : run.subspan(1)) job_->combine(sum, std::move(r.pair->value));
    return sum;
  }

  /// Returns the job's order as a comparison that counts its calls in `compared`.
  [[nodiscard]] auto counting(std::uint64_t& compared) const {
    return [this, &compared](const record_type& a, const record_type& b) {
      ++compared;
      return comes_before(*job_, a, b);
    };
  }
  [[nodiscard]] std::size_t wanted_of(std::size_t records) const noexcept {
    return options_->top == 0 ? records : std::min(records, options_->top);
  }

  void send_records(int to) {
    std::vector<std::byte> message;
    const std::size_t records_bytes = records_.size() * sizeof(record_type);
    for (const record_type& one : records_) put_pair(message, one.key, one.value);
    records_ = {};
    totals_.message_bytes = message.size();
    totals_.sent_bytes += sizeof totals_ + message.size();
    costs_.sent(message.size(), records_bytes);
    ranks_->send(totals_, to);
    ranks_->send(std::span<const std::byte>{message}, to);
  }

  void receive_records(int from) {
    const totals theirs = ranks_->template recv<totals>(from);
    totals_.emitted += theirs.emitted;
    totals_.distinct += theirs.distinct;
    totals_.sent_bytes += theirs.sent_bytes;
    std::vector<std::byte>& message = messages_.emplace_back(theirs.message_bytes);
    ranks_->recv(std::span<std::byte>{message}, from);
    costs_.received(message.size());
    record_vector<record_type> more;
    get_pairs(message, more);
    merge_with(std::move(more));
  }

  void merge_with(record_vector<record_type> more) {
    record_vector<record_type> both;
    both.reserve(records_.size() + more.size());
    const auto move = [](auto at) { return std::move_iterator(at); };
    std::uint64_t compared = 0;
    if constexpr (sortable<Job>) {
      if (options_->sort) {
        std::merge(move(records_.begin()), move(records_.end()), move(more.begin()),
                   move(more.end()), std::back_inserter(both), counting(compared));
      }
    }
    if (both.empty()) {
      std::ranges::move(records_, std::back_inserter(both));
      std::ranges::move(more, std::back_inserter(both));
    }
    costs_.merged(both.size(), sizeof(record_type), compared);
    both.erase(both.begin() + static_cast<std::ptrdiff_t>(wanted_of(both.size())), both.end());
    records_ = std::move(both);
  }

  const Job* job_;
  Communicator* ranks_;
  const options* options_;
  rank_costs<typename Communicator::memory_type> costs_;
  std::size_t size_;
  std::size_t me_;
  buffer buffer_;
  std::size_t hashed_bytes_ = 0;
  std::vector<value_type> filled_;               // array of a job with fill()
  std::deque<std::vector<std::byte>> messages_;  // views of keys point into them
  groups groups_;
  std::size_t grouped_bytes_ = 0;
  record_vector<record_type> records_;
  totals totals_;
};

}  // namespace creek::mapreduce
