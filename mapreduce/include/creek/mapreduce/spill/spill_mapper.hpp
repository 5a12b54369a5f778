// SPDX-License-Identifier: Apache-2.0
// Memory that a mapper emits to in a run with a memory limit. When it is full, it is written to a
// file by partition, but for frequent pairs; what is left at the end may stay.
#pragma once

#include <concepts>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/spill/spill_shares.hpp>
#include <creek/mapreduce/spill/spill_table.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/mapreduce/tables/table.hpp>
#include <creek/mapreduce/tables/waiting_pairs.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

namespace detail {

/// Shared table that reports its memory. Here each mapper has its own table with one writer, since
/// tables that are emptied at different times need not wait for each other.
template <class T>
concept measured_table = shared_table<T> && requires(const T& c) {
  { c.bytes() } -> std::convertible_to<std::size_t>;
  { c.key_bytes() } -> std::convertible_to<std::size_t>;
};

template <class Job>
concept brings_measured_table = requires {
  requires measured_table<typename Job::table_type>;
};

/// Memory that such a table may use beyond its reported size, until the next check.
inline constexpr std::size_t table_slack = std::size_t{8} << 20;

}  // namespace detail

/// Memory of one mapper. One task at a time.
template <job Job>
class spill_mapper {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using stored = stored_key<key_type>;

  spill_mapper(const Job& job, const options& chosen, const spill_shares& shares, spill_file& file,
               spill_meter& meter)
      : job_(&job),
        combining_(combines<Job> && chosen.how != strategy::emit_and_group),
        shares_(shares),
        meter_(&meter),
        writer_(std::in_place, file, meter, shares.buffer, shares.largest, shares.limit),
        parts_(partitions(chosen, shares)) {}
  spill_mapper(const spill_mapper&) = delete;
  spill_mapper& operator=(const spill_mapper&) = delete;

  /// Returns the number of partitions in which all mappers of a run write.
  [[nodiscard]] static std::size_t partitions(const options& chosen,
                                              const spill_shares& shares) noexcept {
    if constexpr (detail::brings_measured_table<Job>) {
      if (uses_own_table(chosen.how != strategy::emit_and_group, shares)) {
        return Job::table_type::partitions;
      }
    }
    return std::size_t{1} << shares.bits;
  }

  template <class Split>
  void map(const Split& split) {
    source_ = detail::text_of(split);
    if constexpr (detail::brings_measured_table<Job>) {
      if (uses_own_table(combining_, shares_)) {
        if (!own_) own_ = std::make_unique<own_table>(*meter_);
        own_->writer.source(source_.text, source_.stable);
        table_emitter emit{*this};
        detail::call_map(*job_, split, emit);
        own_->writer.flush();
        return;
      }
    }
    if (!pairs_) pairs_.emplace(*job_, shares_.worker - 2 * shares_.buffer, *meter_);
    pairs_->source(source_.text, source_.stable);
    emitter emit{*this};
    detail::call_map(*job_, split, emit);
    combine_waiting();
  }

  /// Orders the pairs in memory by partition; called after the last split.
  void finish() {
    if (pairs_) pairs_->sort_by_part(0, shares_.bits);
    if constexpr (detail::brings_measured_table<Job>) {
      if (!own_) return;
      drain_own_table();
      measure_own_keys();
    }
  }

  // After finish():

  /// Returns the bytes of memory that is needed if the pairs stay there.
  [[nodiscard]] std::size_t bytes() const noexcept {
    if (pairs_) return pairs_->resident();
    if constexpr (detail::brings_measured_table<Job>) {
      if (own_) return own_->bytes() + sizeof(*own_);
    }
    return 0;
  }
  /// Returns the number of pairs of a partition in memory.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept {
    if (pairs_) return pairs_->size_of(part);
    if constexpr (detail::brings_measured_table<Job>) {
      if (own_) return own_->table.size(part);
    }
    return 0;
  }
  /// Returns about how many bytes they have beside their objects.
  [[nodiscard]] std::size_t bytes_outside(std::size_t part) const noexcept {
    if (pairs_) return pairs_->bytes_outside(part);
    return own_key_bytes_.empty() ? 0 : own_key_bytes_[part];
  }

  /// Calls `f(stored&, value_type&)` for them, with references that may be moved from.
  template <class F>
  void for_each(std::size_t part, F&& f) {
    if (pairs_) return pairs_->for_each_in(part, f);
    if constexpr (detail::brings_measured_table<Job>) {
      if (!own_) return;
      own_->table.for_each(part, [&](key_type key, value_type value) {
        stored made(std::move(key), {});
        f(made, value);
      });
    }
  }
  /// Lets the pairs stay in memory, and lists them as those of mapper `index`.
  void keep(std::size_t index) {
    writer_.reset();
    if (pairs_) pairs_->trim();
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (size(part) == 0) continue;
      parts_[part].push_back(spill_block::in_memory(index, size(part), bytes_outside(part)));
    }
  }
  /// Writes out the pairs and frees the memory.
  void write_rest() {
    if (pairs_ && pairs_->size() != 0) pairs_->write_sorted(*writer_, parts_.data());
    pairs_.reset();
    if constexpr (detail::brings_measured_table<Job>) {
      if (own_) write_own_table();
      own_.reset();
    }
    writer_.reset();
  }

  [[nodiscard]] const spill_blocks& blocks(std::size_t part) const noexcept { return parts_[part]; }
  [[nodiscard]] std::vector<spill_blocks> take_blocks() noexcept { return std::move(parts_); }
  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_; }

 private:
  struct emitter {
    spill_mapper& to;
    void operator()(key_type key, value_type value) {
      ++to.emitted_;
      if constexpr (combines<Job>) {
        if (to.combining_) {
          const std::uint64_t hash = spread_hash(*to.job_, key, *to.secret_);
          auto made = to.waiting_.make(std::move(key), to.source_.text, std::move(value));
          made->hash = hash;
          return to.combine(std::move(made));
        }
      }
      stored made(std::move(key), to.source_.text);
      to.add([&] { return to.pairs_->append(made, value); });
    }
  };

  /// Checks the table's size every megabyte of keys, whatever the size of splits.
  struct table_emitter {
    spill_mapper& to;
    void operator()(const key_type& key, const value_type& value) {
      to.own_->writer(key, value);
      std::size_t size = 16;
      detail::for_each_view(key, [&](std::string_view view) { size += view.size(); });
      if (size < to.unchecked_) [[likely]] {
        to.unchecked_ -= size;
        return;
      }
      to.unchecked_ = bytes_unchecked;
      to.own_->writer.flush();
      to.own_->count();
      if (to.own_->bytes() + detail::table_slack > to.shares_.worker) to.begin_own_table();
    }
  };

  using hashed_pair = typename detail::waiting_pairs<Job>::hashed_pair;
  using waiting_objects = detail::waiting_objects<hashed_pair>;

  /// Combines a pair, or lets it wait while what it needs of a large table is fetched: the slot,
  /// and when half of the others are before it, the pair.
  void combine(typename waiting_objects::candidate&& made) requires combines<Job> {
    if (!pairs_->is_large() || !made->key.stays_with(source_.text)) return combine_now(*made);
    made.keep();
    if (waiting_.is_full()) process(detail::max_ahead);
  }

  void combine_waiting() {
    if constexpr (combines<Job>) {
      process(waiting_.size());
    }
  }
  void process(std::size_t count) requires combines<Job> {
    waiting_.process(
        count, [this](const hashed_pair& pair) { pairs_->prefetch_slot(pair.hash); },
        [this](const hashed_pair& pair) { pairs_->prefetch_pair(pair.hash); },
        [this](hashed_pair&& pair) { combine_now(pair); });
  }

  void combine_now(hashed_pair& pair) requires combines<Job> {
    add([&] { return pairs_->combine(pair.hash, pair.key, pair.value); });
    if (pairs_->overgrown()) write_out();
  }

  template <class Try>
  void add(Try&& fits) {
    if (fits()) [[likely]]
      return;
    if (pairs_->size() != 0) write_rare();
    if (fits()) return;
    if (pairs_->size() != 0) write_out();
    if (!fits()) detail::refuse_pair(shares_.limit);
  }

  void write_rare() { pairs_->write_rare(0, shares_.bits, *writer_, parts_.data()); }
  void write_out() { pairs_->write_out(0, shares_.bits, *writer_, parts_.data()); }

  static constexpr std::size_t bytes_unchecked = std::size_t{1} << 20;

  [[nodiscard]] static bool uses_own_table(bool combining, const spill_shares& shares) noexcept {
    return combining && shares.worker >= 3 * detail::table_slack;
  }

  /// A mapper's own table with its writer; used only by jobs that bring such a table.
  template <class J>
  struct own_table_of {
    explicit own_table_of(spill_meter& meter) : charge(meter), writer(table) {}
    [[nodiscard]] std::size_t bytes() const { return table.bytes() + table.key_bytes(); }

    void count() { charge.raise_to(bytes() + sizeof(*this)); }

    memory_charge charge;
    typename J::table_type table;
    typename J::table_type::writer writer;
  };
  struct no_table {};
  template <class J>
  static auto own_table_type() {
    if constexpr (detail::brings_measured_table<J>) {
      return std::type_identity<own_table_of<J>>{};
    } else {
      return std::type_identity<no_table>{};
    }
  }
  using own_table = typename decltype(own_table_type<Job>())::type;

  void drain_own_table() requires detail::brings_measured_table<Job> {
    own_->writer.finish();
    for (std::size_t part = 0; part < parts_.size(); ++part) own_->writer.drain(part);
    own_->count();
    emitted_ += own_->writer.emitted();
  }
  void measure_own_keys() requires detail::brings_measured_table<Job> {
    own_key_bytes_.assign(parts_.size(), 0);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      own_->table.for_each(part, [&](const key_type& key, const value_type& /*value*/) {
        detail::for_each_view(key,
                              [&](std::string_view view) { own_key_bytes_[part] += view.size(); });
      });
    }
  }
  /// Writes by the table's own hash; keys of one of its partitions agree in no bits of our hash.
  void write_own_table() requires detail::brings_measured_table<Job> {
    writer_->begin(parts_.data());
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      own_->table.for_each(part, [&](const key_type& key, const value_type& value) {
        put_pair(writer_->bytes(), key, value);
        writer_->item(part, hash_digits(spread_hash(*job_, key, *secret_), 0));
      });
    }
    writer_->finish();
  }
  void begin_own_table() requires detail::brings_measured_table<Job> {
    drain_own_table();
    write_own_table();
    own_.reset();  // first, so that there are never two tables
    own_ = std::make_unique<own_table>(*meter_);
    own_->writer.source(source_.text, source_.stable);
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  bool combining_;
  spill_shares shares_;
  spill_meter* meter_;
  std::optional<block_writer> writer_;  // until the pairs stay, or are all written
  std::vector<spill_blocks> parts_;
  text_split source_{{}, false};
  std::optional<spill_table<Job>> pairs_;
  waiting_objects waiting_;
  std::unique_ptr<own_table> own_;
  std::size_t unchecked_ = bytes_unchecked;  // bytes of keys before the next look at its size
  std::vector<std::size_t> own_key_bytes_;   // by partition, after finish()
  std::uint64_t emitted_ = 0;
};

}  // namespace creek::mapreduce
