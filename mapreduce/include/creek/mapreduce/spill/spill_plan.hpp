// SPDX-License-Identifier: Apache-2.0
// Stages of a run with a memory limit. A mapper keeps its pairs in memory of fixed size (a
// spill_table), combined if the job combines, and writes them to a file by partition whenever that
// memory is full; at the end, they stay in memory if there is room. Then each worker takes one
// partition at a time, brings equal keys together in its share of the memory and passes on the
// records. A partition that does not fit is partitioned again, by further bits of the hash, until
// it does.
#pragma once

#include <atomic>
#include <bit>
#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/engine/key_groups.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/spill/spill_mapper.hpp>
#include <creek/mapreduce/spill/spill_shares.hpp>
#include <creek/mapreduce/spill/spill_table.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Destination of the records of such a run.
template <job Job>
class record_target {
 public:
  /// Adds a record of partition `part`, from worker `taker`. Different takers call concurrently,
  /// calls for one partition are sequential. Views in the key are valid until `release`.
  virtual void add(std::size_t taker, std::size_t part, typename Job::key_type&& key,
                   typename detail::result_value<Job>::type&& value) = 0;
  virtual void release(std::size_t taker) = 0;

 protected:
  ~record_target() = default;
};

/// Stages, called by `run_spilling` in the order of their declaration.
template <job Job>
class spill_plan {
 public:
  using job_type = Job;
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using table = spill_table<Job>;
  using pair = mapreduce::emitted<key_type, value_type>;

  static_assert(detail::job_requirements<Job>::met);
  static_assert(sendable<key_type>, "keys go to files: give key_type a form, see wire.hpp");
  static_assert(sendable<value_type>, "values go to files: give value_type a form, see wire.hpp");
  static_assert(!detail::holds_views<value_type>() &&
                    !detail::holds_views<typename detail::result_value<Job>::type>(),
                "values that are views lose what they point into: let them be strings");

  /// `grouping` bytes of each worker's share are for grouping pairs.
  spill_plan(const Job& job, const options& chosen, const spill_shares& shares,
             std::size_t grouping, spill_file& file, spill_meter& meter, std::size_t workers)
      : job_(&job),
        chosen_(&chosen),
        shares_(shares),
        grouping_(grouping),
        file_(&file),
        meter_(&meter),
        workers_(workers),
        mappers_(workers),
        groupers_(workers),
        index_(meter) {}

  template <class Split>
  void map(std::size_t index, const Split& split) {
    if (!mappers_[index]) {
      mappers_[index] =
          std::make_unique<spill_mapper<Job>>(*job_, *chosen_, shares_, *file_, *meter_);
    }
    mappers_[index]->map(split);
  }

  /// Lists the pairs of all mappers by partition. Those that are in memory stay there if there is
  /// room for them while partitions are grouped; others are written out.
  void gather() {
    const auto for_each_mapper = [&](auto&& f) {
      detail::for_each_index(mappers_.size(), [&](std::size_t i) {
        if (mappers_[i]) f(i);
      });
    };
    for_each_mapper([&](std::size_t i) { mappers_[i]->finish(); });
    const std::vector<bool> stays = those_that_stay();
    for_each_mapper(
        [&](std::size_t i) { stays[i] ? mappers_[i]->keep(i) : mappers_[i]->write_rest(); });
    parts_.resize(partitions());
    for (std::size_t i = 0; i < mappers_.size(); ++i) {
      if (!mappers_[i]) continue;
      emitted_ += mappers_[i]->emitted();
      const std::vector<spill_blocks> theirs = mappers_[i]->take_blocks();
      for (std::size_t part = 0; part < parts_.size(); ++part) {
        parts_[part].insert(parts_[part].end(), theirs[part].begin(), theirs[part].end());
      }
      if (!stays[i]) mappers_[i].reset();
    }
    index_.set(index_bytes(parts_));
  }

  [[nodiscard]] std::size_t partitions() const noexcept {
    return spill_mapper<Job>::partitions(*chosen_, shares_);
  }

  /// Makes the records of a partition.
  void group(std::size_t taker, std::size_t part, record_target<Job>& target) {
    if (chosen_->stop.stop_requested()) throw error(ECANCELED, "MapReduce run stopped");
    grouper& mine = groupers_[taker];
    if (!mine.reader) {
      mine.reader.emplace(*file_, *meter_);
      open(mine.writer);
      if constexpr (combines<Job>) mine.pairs.emplace(*job_, table_bytes(), *meter_);
    }
    const place at{taker, part, &target};
    if constexpr (combines<Job>) {
      combine_part(at, std::exchange(parts_[part], {}), 0);
    } else {
      group_part(at, std::exchange(parts_[part], {}), 0);
    }
  }

  /// Keys whose values exceed a worker's share get the memory of all workers, one after the other.
  void group_heavy(record_target<Job>& target) {
    groupers_.clear();
    mappers_.clear();
    for (heavy_part& one : heavy_) {
      const extent size = extent_of(one.blocks);
      if (size.needed() > grouping_ * workers_) {
        detail::refuse_heavy_key(size.pairs, size.bytes, shares_.limit);
      }
      reduce_blocks({0, one.part, &target}, one.blocks, size);
    }
  }

  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_; }
  [[nodiscard]] std::uint64_t distinct() const noexcept { return distinct_; }

 private:
  struct grouper {
    std::optional<table> pairs;
    std::optional<block_reader> reader;
    std::optional<block_writer> writer;
  };
  /// Assignment of a partition to the worker that makes records of it for a target.
  struct place {
    std::size_t taker, part;
    record_target<Job>* target;
  };
  struct heavy_part {
    std::size_t part;
    spill_blocks blocks;
  };
  /// Size of some blocks: number of pairs and bytes, of these those in files.
  struct extent {
    std::uint64_t pairs = 0, bytes = 0, in_files = 0;
    /// Returns the memory to hold and group them: two pointers per pair for sorting, the groups.
    [[nodiscard]] std::uint64_t needed() const noexcept {
      using ref = pair_ref<key_type, value_type>;
      constexpr bool owning =
          !std::is_trivially_copyable_v<pair> &&
          !(detail::holds_views<key_type>() && std::is_trivially_copyable_v<value_type>);
      const std::uint64_t owned = owning ? bytes + 32 * pairs : 0;
      return bytes + owned + pairs * (sizeof(pair) + 2 * sizeof(ref) + 2 * sizeof(std::size_t));
    }
    /// Returns the memory of a table that combines them.
    [[nodiscard]] std::uint64_t needed_to_combine() const noexcept {
      return table::bytes_for(pairs) + bytes;
    }
  };

  void open(std::optional<block_writer>& writer) const {
    writer.emplace(*file_, *meter_, shares_.buffer, shares_.largest, shares_.limit);
  }
  [[nodiscard]] std::size_t table_bytes() const noexcept { return grouping_ - 3 * shares_.buffer; }

  [[nodiscard]] static std::size_t index_bytes(const std::vector<spill_blocks>& parts) noexcept {
    std::size_t sum = 0;
    for (const spill_blocks& part : parts) sum += part.capacity() * sizeof(spill_block);
    return sum;
  }
  [[nodiscard]] static extent extent_of(const spill_blocks& blocks) noexcept {
    extent sum;
    for (const spill_block& block : blocks) {
      sum.pairs += block.items;
      sum.bytes += block.bytes;
      if (!block.is_in_memory()) sum.in_files += block.bytes;
    }
    return sum;
  }

  /// Returns, by mapper, whether its pairs stay in memory: if there is also room for as many of the
  /// largest partitions as there are workers.
  [[nodiscard]] std::vector<bool> those_that_stay() const {
    extent largest;
    for (std::size_t part = 0; part < partitions(); ++part) {
      extent size;
      for (const auto& mapper : mappers_) {
        if (!mapper) continue;
        const extent more = extent_of(mapper->blocks(part));
        size.pairs += more.pairs + mapper->size(part);
        size.bytes += more.bytes + mapper->bytes_outside(part);
      }
      largest.pairs = std::max(largest.pairs, size.pairs);
      largest.bytes = std::max(largest.bytes, size.bytes);
    }
    const std::uint64_t per_worker =
        3 * shares_.buffer + (combines<Job> ? largest.needed_to_combine() : largest.needed());
    std::uint64_t used = mappers_.size() * per_worker;
    std::vector<bool> stay(mappers_.size());
    for (std::size_t i = 0; i < mappers_.size(); ++i) {
      if (!mappers_[i] || used + mappers_[i]->bytes() > grouping_ * mappers_.size()) continue;
      used += mappers_[i]->bytes();
      stay[i] = true;
    }
    return stay;
  }

  /// Calls `f(stored_key&, value_type&)` for each pair of a block.
  template <class F>
  void for_each_pair(block_reader& reader, const spill_block& block, std::size_t part, F&& f) {
    if (block.is_in_memory()) return mappers_[block.mapper()]->for_each(part, f);
    const auto bytes = reader.read(block);
    for (const std::byte* from = bytes.data(); from != bytes.data() + bytes.size();) {
      auto one = get_pair<pair>(from);
      stored_key<key_type> key(std::move(one.key), {});
      f(key, one.value);
    }
  }

  /// Combines the pairs of some blocks in a table; if it gets full, partitions them further.
  void combine_part(const place& at, spill_blocks blocks, int base) requires combines<Job> {
    grouper& mine = groupers_[at.taker];
    table& sums = *mine.pairs;
    const int next = detail::differing_from(blocks, base);
    const extent size = extent_of(blocks);
    std::vector<spill_blocks> children;
    const auto part_again = [&] {
      if (sums.size() == 0) detail::refuse_pair(shares_.limit);
      write_child(mine, next, children, size);
    };
    for (const spill_block& block : blocks) {
      for_each_pair(*mine.reader, block, at.part,
                    [&](stored_key<key_type>& key, value_type& value) {
                      const std::uint64_t hash = spread_hash(*job_, key.get(), *secret_);
                      if (!sums.combine(hash, key, value)) {
                        part_again();
                        if (!sums.combine(hash, key, value)) detail::refuse_pair(shares_.limit);
                      } else if (sums.overgrown() && sums.size() > 1) {
                        part_again();
                      }
                    });
    }
    if (children.empty()) return hand_over(at, sums);
    if (sums.size() != 0) part_again();
    blocks = {};
    memory_charge index(*meter_);
    index.set(index_bytes(children));
    for (spill_blocks& child : children) {
      if (!child.empty()) combine_part(at, std::exchange(child, {}), next);
    }
  }

  /// Groups the pairs of some blocks, or partitions them further if they are too many.
  void group_part(const place& at, spill_blocks blocks, int base) {
    const extent size = extent_of(blocks);
    if (size.needed() <= grouping_) return reduce_blocks(at, blocks, size);
    const int next = detail::differing_from(blocks, base);
    if (next >= 64) {
      const std::lock_guard lock(heavy_lock_);
      heavy_.push_back({at.part, std::move(blocks)});
      return;
    }
    std::vector<spill_blocks> children;
    part_blocks(at, blocks, size, next, children);
    blocks = {};
    memory_charge index(*meter_);
    index.set(index_bytes(children));
    for (spill_blocks& child : children) {
      if (!child.empty()) group_part(at, std::exchange(child, {}), next);
    }
  }

  void part_blocks(const place& at, const spill_blocks& blocks, const extent& size, int next,
                   std::vector<spill_blocks>& children) {
    grouper& mine = groupers_[at.taker];
    mine.pairs.emplace(*job_, table_bytes(), *meter_);
    for (const spill_block& block : blocks) {
      for_each_pair(*mine.reader, block, at.part,
                    [&](stored_key<key_type>& key, value_type& value) {
                      if (mine.pairs->append(key, value)) return;
                      write_child(mine, next, children, size);
                      if (!mine.pairs->append(key, value)) detail::refuse_pair(shares_.limit);
                    });
    }
    write_child(mine, next, children, size);
    mine.pairs.reset();
  }

  void write_child(grouper& mine, int next, std::vector<spill_blocks>& children,
                   const extent& size) {
    if (next >= 64) detail::refuse_heavy_key(size.pairs, size.bytes, shares_.limit);
    const int bits = shares_.bits_for(size.needed(), grouping_);
    children.resize(std::size_t{1} << bits);
    mine.pairs->write_out(next, bits, *mine.writer, children.data());
  }

  /// Turns combined pairs into records.
  void hand_over(const place& at, table& sums) requires combines<Job> {
    sums.for_each([&](key_type& key, value_type& value) {
      if constexpr (reduces<Job>) {
        auto reduced = detail::call_reduce(*job_, chosen_->failures, std::as_const(key),
                                           values<Job>(std::span<const value_type>(&value, 1)));
        at.target->add(at.taker, at.part, std::move(key), std::move(reduced));
      } else {
        at.target->add(at.taker, at.part, std::move(key), std::move(value));
      }
    });
    distinct_.fetch_add(sums.size(), std::memory_order_relaxed);
    at.target->release(at.taker);
    sums.clear();
  }

  /// Reads some blocks completely, groups the pairs and makes records.
  void reduce_blocks(const place& at, const spill_blocks& blocks, const extent& size) {
    if constexpr (!combines<Job>) {
      if (size.pairs == 0) return;
      memory_charge charge(*meter_);
      charge.set(size.needed());
      const page_memory bytes(size.in_files);  // views of keys point into it
      std::vector<pair> pairs;
      pairs.reserve(size.pairs);
      std::byte* to = bytes.data();
      for (const spill_block& block : blocks) {
        if (block.is_in_memory()) {
          mappers_[block.mapper()]->for_each(
              at.part, [&](stored_key<key_type>& key, value_type& value) {
                key.visit([&](key_type& visited) {
                  pairs.push_back({std::move(visited), std::move(value)});
                });
              });
          continue;
        }
        file_->read(block, to);
        get_pairs({to, block.bytes}, pairs);
        to += block.bytes;
      }
      const key_groups<key_type, value_type> groups(std::move(pairs));
      groups.for_each([&](std::span<const pair_ref<key_type, value_type>> same) {
        auto reduced =
            detail::call_reduce(*job_, chosen_->failures, same[0].pair->key, values<Job>(same));
        at.target->add(at.taker, at.part, std::move(same[0].pair->key), std::move(reduced));
      });
      distinct_.fetch_add(groups.keys(), std::memory_order_relaxed);
      at.target->release(at.taker);
    }
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  const options* chosen_;
  spill_shares shares_;
  std::size_t grouping_;
  spill_file* file_;
  spill_meter* meter_;
  std::size_t workers_;
  std::vector<std::unique_ptr<spill_mapper<Job>>> mappers_;  // created at their first split; after
                                                             // gather(), those with pairs
  std::vector<grouper> groupers_;
  std::vector<spill_blocks> parts_;
  memory_charge index_;
  std::uint64_t emitted_ = 0;
  std::vector<heavy_part> heavy_;
  std::mutex heavy_lock_;
  std::atomic<std::uint64_t> distinct_{0};
};

}  // namespace creek::mapreduce
