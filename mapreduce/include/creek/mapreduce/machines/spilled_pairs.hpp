// SPDX-License-Identifier: Apache-2.0
// Pairs of a rank that wait in a file until they are sent, in pieces, to the ranks of their keys.
#pragma once

#include <algorithm>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/machines/key_owners.hpp>
#include <creek/mapreduce/machines/pair_messages.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/spill/spill_mapper.hpp>
#include <creek/mapreduce/spill/spill_shares.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace creek::mapreduce::detail {

/// Messages of one worker to all ranks, of limited size.
class alignas(64) bounded_messages {
 public:
  bounded_messages(std::size_t ranks, std::size_t room)
      : room_(room), bytes_(ranks), parts_(ranks) {}

  [[nodiscard]] message_blocks& part(std::size_t rank) noexcept { return parts_[rank]; }
  /// Appends a pair, which has a byte form already. Returns whether there is room for more.
  [[nodiscard]] bool put(std::size_t rank, std::span<const std::byte> pair) {
    std::memcpy(parts_[rank].take(pair.size()), pair.data(), pair.size());
    bytes_[rank] += pair.size();
    return bytes_[rank] < room_;
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    std::size_t sum = 0;
    for (const message_blocks& part : parts_) sum += part.capacity();
    return sum;
  }
  /// Called when the messages have been sent.
  void clear() { std::ranges::fill(bytes_, 0); }

 private:
  std::size_t room_;  // bytes for each rank; a pair may exceed it
  std::vector<std::size_t> bytes_;
  std::vector<message_blocks> parts_;
};

/// Maps like spill_plan, then passes on the pairs, combined as far as the memory allowed. `finish`
/// is called after the last split, and before the members behind it. Calls for different workers
/// may be concurrent.
template <job Job>
class spilled_pairs {
 public:
  using job_type = Job;

  spilled_pairs(const Job& job, const options& chosen, const spill_shares& shares, spill_file& file,
                spill_meter& meter, std::size_t workers)
      : job_(&job),
        chosen_(&chosen),
        shares_(shares),
        file_(&file),
        meter_(&meter),
        mappers_(workers),
        index_(meter) {}

  template <class Split>
  void map(std::size_t worker, const Split& split) {
    if (!mappers_[worker]) {
      mappers_[worker] =
          std::make_unique<spill_mapper<Job>>(*job_, *chosen_, shares_, *file_, *meter_);
    }
    mappers_[worker]->map(split);
  }

  /// Writes the pairs that are in the memory of a worker.
  void write_rest(std::size_t worker) {
    if (!mappers_[worker]) return;
    mappers_[worker]->finish();
    mappers_[worker]->write_rest();
  }
  /// Deals the pairs to the workers, which pass them on.
  void finish() {
    spill_blocks all;
    for (auto& mapper : mappers_) {
      if (!mapper) continue;
      emitted_ += mapper->emitted();
      for (const spill_blocks& part : mapper->take_blocks()) {
        all.insert(all.end(), part.begin(), part.end());
      }
      mapper.reset();
    }
    const std::size_t workers = mappers_.size();
    for (std::size_t i = 0; i < workers; ++i) lanes_.emplace_back(*file_, *meter_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      lanes_[i % workers].blocks.push_back(all[i]);
      pairs_ += all[i].items;
    }
    index_.set(all.size() * sizeof(spill_block));
  }

  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_; }
  /// Returns the number of pairs in the file.
  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }
  /// Returns whether all pairs have been passed on.
  [[nodiscard]] bool is_empty() const {
    return std::ranges::all_of(lanes_, [](const lane& one) { return one.is_empty(); });
  }

  /// Returns some keys, one for about `step` pairs. Reads few blocks: each has the keys of some
  /// values of a hash, in no order.
  [[nodiscard]] std::vector<std::byte> sample(std::uint64_t step) const {
    constexpr std::size_t max_blocks = 64;
    std::vector<spill_block> some;
    for (const lane& one : lanes_) {
      const std::size_t stride = one.blocks.size() * lanes_.size() / max_blocks + 1;
      for (std::size_t i = 0; i < one.blocks.size(); i += stride) some.push_back(one.blocks[i]);
    }
    std::uint64_t read = 0;
    for (const spill_block& block : some) read += block.items;
    // Keeps one key for `step` pairs of all, if so many are read.
    const std::uint64_t wanted = std::max<std::uint64_t>(1, pairs_ / step);
    const std::uint64_t keep = std::max<std::uint64_t>(1, read / wanted);
    std::vector<std::byte> keys;
    block_reader reader(*file_, *meter_);
    for (const spill_block& block : some) {
      const auto bytes = reader.read(block);
      for (const std::byte* at = bytes.data(); at != bytes.data() + bytes.size();) {
        const auto one = get_pair<pair>(at);
        if (read-- % keep == 0) wire<typename Job::key_type>::put(keys, one.key);
      }
    }
    return keys;
  }

  /// Puts pairs of a worker into messages until one is full, or none is left.
  void fill(std::size_t worker, const key_owners<Job>& owners, bounded_messages& to) {
    for (lane& from = lanes_[worker]; from.advance();) {
      const std::byte* const begin = from.at;
      const auto one = get_pair<pair>(from.at);
      if (!to.put(owners(one.key), {begin, from.at})) return;
    }
  }

 private:
  using pair = mapreduce::emitted<typename Job::key_type, typename Job::value_type>;

  /// Pairs that one worker passes on.
  struct lane {
    lane(const spill_file& file, spill_meter& meter) : reader(file, meter) {}

    [[nodiscard]] bool is_empty() const { return at == end && next == blocks.size(); }
    /// Reads the next block if there is no pair left in the last one. Returns whether there is one.
    [[nodiscard]] bool advance() {
      while (at == end && next < blocks.size()) {
        const auto bytes = reader.read(blocks[next++]);
        at = bytes.data();
        end = at + bytes.size();
      }
      return at != end;
    }

    block_reader reader;
    spill_blocks blocks;
    std::size_t next = 0;  // block
    const std::byte* at = nullptr;
    const std::byte* end = nullptr;
  };

  const Job* job_;
  const options* chosen_;
  spill_shares shares_;
  spill_file* file_;
  spill_meter* meter_;
  std::vector<std::unique_ptr<spill_mapper<Job>>> mappers_;  // made at their first split
  std::deque<lane> lanes_;
  memory_charge index_;
  std::uint64_t emitted_ = 0, pairs_ = 0;
};

}  // namespace creek::mapreduce::detail
