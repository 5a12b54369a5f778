// SPDX-License-Identifier: Apache-2.0
// The parts of the queries in [DSS 2011] (docs/scc/machine.md): ranks that share no memory read
// their parts of the columns into their own streams, scans copy the records that qualify to result
// streams, and a nested-loop join compares every record of one stream with every record of another.
// The same code runs on host threads and on a simulated chip, where it states work and the traffic
// of private memory as they happen.
#pragma once

#include <algorithm>
#include <array>
#include <creek/core/charge.hpp>
#include <creek/mapreduce/ranks/rank_costs.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tpch/columns/packed.hpp"

namespace creek::tpch::paper {

/// Values of a column, eight bytes each.
using stream = std::vector<std::int64_t>;

/// Rows [first, first + rows) of a table.
struct row_part {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// The operators of one rank of a communicator. Only that rank uses them.
template <class Ranks>
class rank_streams {
 public:
  explicit rank_streams(Ranks& ranks) : ranks_{&ranks}, costs_{ranks.memory()} {}

  /// Returns the rows of a table that this rank has; the ranks' parts are as equal as possible.
  [[nodiscard]] row_part part_of(std::size_t rows) const {
    const auto size = static_cast<std::size_t>(ranks_->size());
    const auto rank = static_cast<std::size_t>(ranks_->rank());
    const std::size_t first = rows / size * rank + std::min(rank, rows % size);
    return {first, rows / size + (rank < rows % size ? 1 : 0)};
  }

  /// Reads a part of a column from this rank's copy of the table.
  [[nodiscard]] stream read(const packed& column, row_part part) const {
    stream values(part.rows);
    for (std::size_t i = 0; i < part.rows; ++i) values[i] = column.value(part.first + i);
    state_read(part.rows * column.width);
    state_result(values);
    return values;
  }

  /// Scans `rows` rows of `columns` columns in order: keep(row, result) appends the record of a row
  /// that qualifies to the result stream.
  template <class T, class Keep>
  [[nodiscard]] std::vector<T> scan(std::size_t rows, std::size_t columns, Keep&& keep) const {
    std::vector<T> result;
    for (std::size_t row = 0; row < rows; ++row) keep(row, result);
    state_work(work::element_visited, rows * columns);
    state_read(rows * columns * sizeof(std::int64_t));
    state_result(result);
    return result;
  }

  /// Returns all ranks' streams, in the order of the ranks, at every rank. Collective; goes around
  /// a ring in P - 1 steps.
  template <class T>
  [[nodiscard]] std::vector<T> gather(const std::vector<T>& mine) const {
    const int size = ranks_->size(), rank = ranks_->rank();
    std::vector<std::uint64_t> begins = begins_of(mine.size());
    std::vector<T> all(begins.back());
    const auto block = [&](int of) {
      const auto at = static_cast<std::size_t>((of + size) % size);
      return std::span<T>{all}.subspan(begins[at], begins[at + 1] - begins[at]);
    };
    std::ranges::copy(mine, block(rank).begin());
    for (int step = 0; step + 1 < size; ++step) {
      const std::span<const T> out = block(rank - step);
      const std::span<T> in = block(rank - step - 1);
      costs_.sent(out.size_bytes(), out.size_bytes());
      ranks_->exchange(out, (rank + 1) % size, in, (rank - 1 + size) % size);
      costs_.received(in.size_bytes());
    }
    return all;
  }

  /// Nested-loop join: compares the key of every outer record with every inner one, one block of
  /// the inner stream that fits the first cache at a time, and calls match(outer, inner, result)
  /// for equal keys, which appends a record to the result stream.
  template <class T, class Outer, class Inner, class OuterKey, class InnerKey, class Match>
  [[nodiscard]] std::vector<T> join(const std::vector<Outer>& outer, OuterKey outer_key,
                                    const std::vector<Inner>& inner, InnerKey inner_key,
                                    Match&& match) const {
    std::vector<T> result;
    std::array<std::int64_t, join_block> keys;
    for (std::size_t first = 0; first < inner.size(); first += join_block) {
      const std::size_t count = std::min(inner.size() - first, join_block);
      for (std::size_t i = 0; i < count; ++i) keys[i] = inner_key(inner[first + i]);
      for (const Outer& record : outer) {
        const std::int64_t key = outer_key(record);
        if (!any_equal({keys.data(), count}, key)) continue;
        for (std::size_t i = 0; i < count; ++i) {
          if (keys[i] == key) match(record, inner[first + i], result);
        }
      }
      state_work(work::element_visited, outer.size() * count);
      state_read(outer.size() * sizeof(Outer) + count * sizeof(Inner));
    }
    state_result(result);
    return result;
  }

  /// States that a result stream was added up, `sums` sums per record.
  template <class T>
  void state_sums(const std::vector<T>& records, std::size_t sums) const {
    state_work(work::value_reduced, records.size() * sums);
    state_read(records.size() * sizeof(T));
  }

 private:
  static constexpr std::size_t join_block = 1024;  // in keys: half of the chip's first cache

  /// Searches without a branch per key, so that a host compares several keys at a time.
  static bool any_equal(std::span<const std::int64_t> keys, std::int64_t key) noexcept {
    int found = 0;
    for (const std::int64_t k : keys) found |= k == key ? 1 : 0;
    return found != 0;
  }

  /// Calls state(part) for parts that sum to `all`, since no statement may take a chip a second.
  template <class State>
  static void in_parts(std::uint64_t all, State&& state) {
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    for (std::uint64_t left = all; left > 0; left -= std::min(left, most)) {
      state(std::min(left, most));
    }
  }
  static void state_work(work kind, std::uint64_t units) {
    in_parts(units, [&](std::uint64_t part) { charge(kind, static_cast<std::int64_t>(part)); });
  }
  void state_read(std::size_t bytes) const {
    in_parts(bytes, [&](std::uint64_t part) { costs_.scanned(part); });
  }
  template <class T>
  void state_result(const std::vector<T>& result) const {
    in_parts(result.size(),
             [&](std::uint64_t records) { costs_.emitted(records, records * sizeof(T)); });
  }

  /// Returns where each rank's block begins, and where the last one ends.
  [[nodiscard]] std::vector<std::uint64_t> begins_of(std::size_t mine) const {
    const std::vector<std::uint64_t> sizes = ranks_->allgather(static_cast<std::uint64_t>(mine));
    std::vector<std::uint64_t> begins{0};
    for (const std::uint64_t size : sizes) begins.push_back(begins.back() + size);
    return begins;
  }

  Ranks* ranks_;
  mapreduce::rank_costs<typename Ranks::memory_type> costs_;
};

}  // namespace creek::tpch::paper
