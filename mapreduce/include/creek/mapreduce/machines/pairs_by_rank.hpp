// SPDX-License-Identifier: Apache-2.0
// Pairs on their way to the rank that their key belongs to, as bytes, and the exchange of them.
#pragma once

#include <creek/core/threads/prefetch.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/machines/key_owners.hpp>
#include <creek/mapreduce/machines/pair_messages.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace creek::mapreduce::detail {

/// Fetches the text of a key, which may lie anywhere.
template <class Key>
void fetch_text(const Key& key) {
  for_each_view(key, [](std::string_view text) { prefetch_to_read(text.data()); });
}

/// Calls `f(record)` for each record; fetches the text of keys ahead.
template <class Record, class F>
void for_each_fetched(std::span<const Record> records, F&& f) {
  constexpr std::size_t ahead = 16;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i + ahead < records.size()) fetch_text(records[i + ahead].key);
    f(records[i]);
  }
}

/// Pairs that one worker has for each rank. One task at a time.
template <class Job>
class alignas(64) pairs_by_rank {
 public:
  /// Pairs of the rank `staying` stay where they are.
  pairs_by_rank(const key_owners<Job>& owners, std::size_t staying)
      : owners_(&owners), staying_(staying), parts_(owners.ranks()) {}

  /// Adds the pair and returns true, unless it stays.
  bool put(const typename Job::key_type& key, const typename Job::value_type& value) {
    const std::size_t to = (*owners_)(key);
    if (to == staying_) return false;
    parts_[to].put(key, value);
    ++pairs_;
    return true;
  }
  [[nodiscard]] message_blocks& part(std::size_t rank) noexcept { return parts_[rank]; }
  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }

 private:
  const key_owners<Job>* owners_;
  std::size_t staying_;
  std::vector<message_blocks> parts_;
  std::uint64_t pairs_ = 0;
};

/// A message that was begun in place: requests cannot be moved.
template <class Communicator>
struct begun_message {
  begun_message(Communicator& ranks, std::span<const std::byte> out, int to)
      : request(ranks.isend(out, to)) {}
  begun_message(Communicator& ranks, std::span<std::byte> in, int from)
      : request(ranks.irecv(in, from)) {}
  typename Communicator::request request;
};

/// Sends `part(r)` of every worker, which are message_blocks, to rank r. Returns what all ranks
/// sent to this one, in `memory`. Every rank calls it. Adds the bytes of pairs that go to others to
/// `sent`.
template <class Communicator, class Parts>
[[nodiscard]] std::vector<std::string_view> exchange_pairs(Communicator& ranks,
                                                           std::vector<Parts>& out,
                                                           byte_arena& memory,
                                                           std::uint64_t& sent) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto me = static_cast<std::size_t>(ranks.rank());
  std::vector<std::uint64_t> lengths, counts;
  for (std::size_t to = 0; to < size; ++to) {
    const std::size_t before = lengths.size();
    for (auto& worker : out) {
      for (const auto& block : worker.part(to).blocks()) lengths.push_back(block.size);
    }
    counts.push_back(lengths.size() - before);
  }
  const auto theirs = ranks.all_to_all_v(std::span<const std::uint64_t>{lengths},
                                         std::span<const std::uint64_t>{counts});
  std::vector<std::size_t> first{0};  // of a rank's lengths
  for (const std::uint64_t count : theirs.counts) first.push_back(first.back() + count);

  std::vector<std::string_view> all;
  for (auto& worker : out) {
    for (auto& block : worker.part(me).blocks()) {
      all.emplace_back(block.bytes.get(), block.size);
      memory.adopt(std::move(block.bytes), block.size);
    }
    worker.part(me).clear();
  }
  for (std::size_t step = 1; step < size; ++step) {
    const std::size_t to = (me + step) % size, from = (me + size - step) % size;
    std::deque<begun_message<Communicator>> begun;
    for (std::size_t i = first[from]; i < first[from + 1]; ++i) {
      const auto bytes = static_cast<std::size_t>(theirs.data[i]);
      char* const room = memory.take(bytes);
      all.emplace_back(room, bytes);
      begun.emplace_back(ranks, std::span(reinterpret_cast<std::byte*>(room), bytes),
                         static_cast<int>(from));
    }
    for (auto& worker : out) {
      for (const auto& block : worker.part(to).blocks()) {
        sent += block.size;
        begun.emplace_back(ranks, std::as_bytes(std::span(block.bytes.get(), block.size)),
                           static_cast<int>(to));
      }
    }
    for (auto& each : begun) each.request.wait();
    for (auto& worker : out) worker.part(to).clear();
  }
  return all;
}

}  // namespace creek::mapreduce::detail
