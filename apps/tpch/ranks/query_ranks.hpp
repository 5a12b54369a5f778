// SPDX-License-Identifier: Apache-2.0
// The processes that answer a query together, and how rows go between them.
#pragma once

#include <creek/core/messages/any_communicator.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "owner_of_key.hpp"

namespace creek::tpch {

/// This process among the ranks that answer a query: each has a share of every table, and workers.
/// Used by the thread that may use the communicator, outside tasks. All ranks call the functions
/// other than compute() in the same order. Rows travel by their bytes.
class query_ranks {
 public:
  query_ranks(any_communicator& all, runtime& workers) : all_(&all), workers_(&workers) {}

  [[nodiscard]] int rank() const { return all_->rank(); }
  [[nodiscard]] int size() const { return all_->size(); }
  /// Returns the bytes that this rank sent to others by the functions for rows.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_; }

  /// Runs `f` on this rank's workers and returns its result.
  template <class F>
  auto compute(F&& f) {
    all_->doing("computing");
    return workers_->run(std::forward<F>(f));
  }

  /// Returns the values of all ranks combined in their order, on every rank.
  template <class T, class Op>
  [[nodiscard]] T combine(T value, Op op) {
    return all_->allreduce(value, op);
  }
  template <class T>
  [[nodiscard]] T sum(T value) {
    return combine(value, std::plus{});
  }

  /// Returns the rows of all ranks, in their order, on rank 0, and no rows elsewhere.
  template <class T>
  [[nodiscard]] std::vector<T> to_first(std::vector<T> rows) {
    const std::vector<std::uint64_t> sizes = all_->gather(std::uint64_t{rows.size()}, 0);
    if (rank() != 0) {
      all_->send(std::span<const T>(rows), 0);
      count(rows, 1);
      return {};
    }
    std::size_t at = rows.size();
    rows.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    for (int from = 1; from < size(); ++from) {
      const std::size_t theirs = sizes[static_cast<std::size_t>(from)];
      all_->recv(std::span<T>(rows).subspan(at, theirs), from);
      at += theirs;
    }
    return rows;
  }

  /// Returns the rows of all ranks, in their order, on every rank.
  template <class T>
  [[nodiscard]] std::vector<T> to_all(const std::vector<T>& rows) {
    const std::vector<std::uint64_t> sizes = all_->allgather(std::uint64_t{rows.size()});
    std::vector<std::size_t> begins(sizes.size() + 1);
    std::inclusive_scan(sizes.begin(), sizes.end(), begins.begin() + 1);
    std::vector<T> everything(begins.back());
    const auto part = [&](int of) {
      const auto i = static_cast<std::size_t>(of);
      return std::span<T>(everything).subspan(begins[i], sizes[i]);
    };
    std::copy(rows.begin(), rows.end(), part(rank()).begin());
    for (int step = 1; step < size(); ++step) {
      const int from = (rank() + size() - step) % size();
      all_->exchange(std::span<const T>(rows), (rank() + step) % size(), part(from), from);
    }
    count(rows, static_cast<std::size_t>(size()) - 1);
    return everything;
  }

  /// Sends each row to the rank that owns its key, as owner_of_key. Returns the rows of the keys
  /// that this rank owns, in the order of the ranks that they come from.
  template <class T, class Key>
  [[nodiscard]] std::vector<T> to_owners(std::vector<T> rows, Key key) {
    const auto ranks = static_cast<std::size_t>(size());
    if (ranks == 1) return rows;
    const auto owner = [&](const T& row) { return owner_of_key(std::invoke(key, row), ranks); };
    std::vector<std::uint64_t> sizes(ranks);
    for (const T& row : rows) ++sizes[owner(row)];
    std::vector<std::size_t> next(ranks);
    std::exclusive_scan(sizes.begin(), sizes.end(), next.begin(), std::size_t{0});
    std::vector<T> out(rows.size());
    for (const T& row : rows) out[next[owner(row)]++] = row;
    count(rows, 1, sizes[static_cast<std::size_t>(rank())]);
    std::vector<T>().swap(rows);
    return all_->all_to_all_v(std::span<const T>(out), std::span<const std::uint64_t>(sizes)).data;
  }

 private:
  template <class T>
  void count(const std::vector<T>& rows, std::size_t times, std::size_t kept = 0) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    sent_ += (rows.size() - kept) * times * sizeof(T);
  }

  any_communicator* all_;
  runtime* workers_;
  std::uint64_t sent_ = 0;
};

}  // namespace creek::tpch
