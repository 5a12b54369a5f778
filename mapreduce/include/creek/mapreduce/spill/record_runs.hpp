// SPDX-License-Identifier: Apache-2.0
// Records that exceed the memory: each worker writes runs of them to a file, sorted if requested,
// and one task merges the runs and passes on one record after the other.
#pragma once

#include <algorithm>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/spill/spill_plan.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce {

template <job Job>
class record_runs final : public record_target<Job> {
 public:
  using key_type = typename Job::key_type;
  using record_type = record_of<Job>;
  using result_type = typename detail::result_value<Job>::type;

  static_assert(sendable<result_type>,
                "records go to files: give what reduce() returns a form, see wire.hpp");

  /// `room` bytes of each worker's share of memory are for records.
  record_runs(const Job& job, const options& chosen, const spill_shares& shares, std::size_t room,
              spill_file& file, spill_meter& meter, std::size_t workers)
      : job_(&job),
        chosen_(&chosen),
        shares_(shares),
        room_(room - block_bytes()),
        file_(&file),
        meter_(&meter) {
    while (takers_.size() < workers) takers_.emplace_back(meter);
  }

  void add(std::size_t taker, std::size_t, key_type&& key, result_type&& value) override {
    collector& mine = takers_[taker];
    mine.bytes += sizeof(record_type) + detail::heap_bytes(key, mine.scratch) +
                  detail::heap_bytes(value, mine.scratch);
    constexpr std::size_t at_once = std::size_t{32} << 20;  // not resident until it is used
    if (mine.records.empty()) mine.records.reserve(std::min(room_, at_once) / sizeof(record_type));
    mine.records.push_back({std::move(key), std::move(value)});
    // A growing vector holds its elements twice for a moment.
    const std::size_t growth = mine.records.size() == mine.records.capacity()
                                   ? 2 * mine.records.capacity()
                                   : std::size_t{1};
    if (mine.bytes + growth * sizeof(record_type) > room_) write_run(mine);
  }

  void release(std::size_t taker) override {
    if constexpr (detail::holds_views<key_type>()) write_run(takers_[taker]);
  }

  /// Writes out the remaining records of a worker.
  void finish(std::size_t taker) {
    write_run(takers_[taker]);
    takers_[taker].records = {};
    takers_[taker].charge.set(0);
    takers_[taker].writer.reset();
  }

  /// Called after all workers, any number of times: calls `sink(const record_type&)` for the
  /// records, at most `top` if that is not 0, and returns their number. Views in a record are valid
  /// during the call.
  template <class Sink>
  std::uint64_t merge(Sink&& sink) {
    for (collector& mine : takers_) {
      std::ranges::move(mine.runs, std::back_inserter(runs_));
      mine.runs.clear();
    }
    if constexpr (sortable<Job>) {
      if (chosen_->sort) {
        merge_shortest();
        return merge_once(runs_, sink);
      }
    }
    std::uint64_t count = 0;
    for (const spill_blocks& run : runs_) {
      for (cursor at(*file_, *meter_, run); at.next(); ++count) sink(at.record());
    }
    return count;
  }

 private:
  struct collector {
    explicit collector(spill_meter& meter) : charge(meter) {}
    std::vector<record_type> records;
    std::size_t bytes = 0;  // bytes of the records and of memory they own
    std::vector<std::byte> scratch;
    std::vector<spill_blocks> runs;
    std::optional<block_writer> writer;
    memory_charge charge;
  };

  /// Reads the records of a run one after the other.
  class cursor {
   public:
    cursor(const spill_file& file, spill_meter& meter, spill_blocks blocks)
        : reader_(file, meter), blocks_(std::move(blocks)) {}

    [[nodiscard]] bool next() {
      if (at_ == end_) {
        if (block_ == blocks_.size()) return false;
        const auto bytes = reader_.read(blocks_[block_++]);
        at_ = bytes.data();
        end_ = at_ + bytes.size();
      }
      record_.emplace(get_pair<record_type>(at_));
      return true;
    }
    [[nodiscard]] const record_type& record() const { return *record_; }

   private:
    block_reader reader_;
    spill_blocks blocks_;
    std::size_t block_ = 0;
    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;
    std::optional<record_type> record_;
  };

  /// Returns the block size with which many runs can be merged in half of all memory.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return std::clamp<std::size_t>(shares_.limit / 512, 4096, shares_.buffer);
  }
  [[nodiscard]] std::size_t fan_in(const std::vector<spill_blocks>& runs) const noexcept {
    std::size_t largest = block_bytes();
    for (const spill_blocks& run : runs) {
      for (const spill_block& block : run) largest = std::max<std::size_t>(largest, block.bytes);
    }
    return std::max<std::size_t>(shares_.limit / 2 / largest, 2);
  }

  void write_run(collector& mine) {
    mine.charge.raise_to(mine.bytes);
    if (mine.records.empty()) return;
    if constexpr (sortable<Job>) {
      if (chosen_->sort) {
        std::ranges::sort(mine.records, [this](const record_type& a, const record_type& b) {
          return comes_before(*job_, a, b);
        });
        if (chosen_->top != 0 && mine.records.size() > chosen_->top) {
          mine.records.erase(mine.records.begin() + static_cast<std::ptrdiff_t>(chosen_->top),
                             mine.records.end());
        }
      }
    }
    if (!mine.writer) {
      mine.writer.emplace(*file_, *meter_, block_bytes(), shares_.largest, shares_.limit);
    }
    mine.writer->begin(&mine.runs.emplace_back());
    for (const record_type& one : mine.records) {
      put_pair(mine.writer->bytes(), one.key, one.value);
      mine.writer->item(0, 0);
    }
    mine.writer->finish();
    mine.records.clear();
    mine.bytes = 0;
  }

  /// Merges as many runs at a time as memory has room for blocks, the shortest runs first, until a
  /// single merge is left.
  void merge_shortest() {
    const auto blocks = [](const spill_blocks& run) { return run.size(); };
    const std::size_t widest = fan_in(runs_);
    while (runs_.size() > widest) {
      // No wider than needed, so that the last merge is as wide as possible.
      const std::size_t width = std::min(widest, runs_.size() - widest + 1);
      std::ranges::sort(runs_, std::ranges::greater{}, blocks);
      const auto shortest = runs_.end() - static_cast<std::ptrdiff_t>(width);
      std::vector<spill_blocks> some(std::make_move_iterator(shortest),
                                     std::make_move_iterator(runs_.end()));
      runs_.erase(shortest, runs_.end());
      block_writer out(*file_, *meter_, block_bytes(), shares_.largest, shares_.limit);
      out.begin(&runs_.emplace_back());
      const auto write = [&](const record_type& one) {
        put_pair(out.bytes(), one.key, one.value);
        out.item(0, 0);
      };
      merge_once(std::move(some), write);
      out.finish();
    }
  }

  template <class Sink>
  std::uint64_t merge_once(std::vector<spill_blocks> runs, Sink& sink) {
    std::deque<cursor> cursors;
    std::vector<cursor*> heap;  // the cursor with the first record is at the front
    const auto later = [this](const cursor* a, const cursor* b) {
      return comes_before(*job_, b->record(), a->record());
    };
    for (spill_blocks& run : runs) {
      cursor& one = cursors.emplace_back(*file_, *meter_, std::move(run));
      if (one.next()) heap.push_back(&one);
    }
    std::ranges::make_heap(heap, later);
    std::uint64_t count = 0;
    while (!heap.empty() && (chosen_->top == 0 || count < chosen_->top)) {
      std::ranges::pop_heap(heap, later);
      sink(heap.back()->record());
      ++count;
      if (heap.back()->next()) {
        std::ranges::push_heap(heap, later);
      } else {
        heap.pop_back();
      }
    }
    return count;
  }

  const Job* job_;
  const options* chosen_;
  spill_shares shares_;
  std::size_t room_;
  spill_file* file_;
  spill_meter* meter_;
  std::deque<collector> takers_;
  std::vector<spill_blocks> runs_;  // of all takers, in merge()
};

}  // namespace creek::mapreduce
