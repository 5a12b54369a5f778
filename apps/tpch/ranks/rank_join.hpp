// SPDX-License-Identifier: Apache-2.0
// How the rows of two sides of a join that have one key come together on one rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query_ranks.hpp"

namespace creek::tpch {

/// Movement of the two sides of a join, in the way that sends fewer bytes: a broadcast of the left
/// side to all ranks, while the right one stays where it is, or a repartition, which sends the rows
/// of both sides to the owners of their keys. Either way a row of the right side meets all rows of
/// the left side with its key, and equal keys of the left side meet. All ranks call everything here
/// in the same order.
class rank_join {
 public:
  /// Takes the bytes that the rows of this rank would have as messages. Estimates only cost time.
  rank_join(query_ranks& ranks, std::uint64_t left_bytes, std::uint64_t right_bytes);

  /// Returns true if the right side need not be sent, so that its rows may stay in columns.
  [[nodiscard]] bool broadcasts() const noexcept { return broadcasts_; }

  /// Returns the rows of the left side that this rank joins.
  template <class T, class Key>
  [[nodiscard]] std::vector<T> left(std::vector<T> rows, Key key) {
    return broadcasts_ ? ranks_->to_all(rows) : ranks_->to_owners(std::move(rows), key);
  }
  /// Returns the rows of the right side that this rank joins.
  template <class T, class Key>
  [[nodiscard]] std::vector<T> right(std::vector<T> rows, Key key) {
    return broadcasts_ ? std::move(rows) : ranks_->to_owners(std::move(rows), key);
  }

  /// Returns "broadcast lines, 480 bytes" or "repartition lines, 480 bytes, and orders, 99 bytes",
  /// for a query's steps; the bytes are those of all ranks.
  [[nodiscard]] std::string describe(std::string_view left_name, std::string_view right_name) const;

 private:
  query_ranks* ranks_;
  std::uint64_t left_bytes_ = 0, right_bytes_ = 0;  // of all ranks
  bool broadcasts_ = true;
};

}  // namespace creek::tpch
