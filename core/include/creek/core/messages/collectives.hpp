// SPDX-License-Identifier: Apache-2.0
// Operations of all ranks of a communicator together: broadcast, reductions, gather and scatter,
// exchanges, scans. Every rank calls the same operation with the same sizes, root and operator.
// Sources: [Thakur 2005] for binomial trees and recursive doubling;
// [Bruck 1997] for allgather;
// [Hillis 1986] for scans;
// [Papagiannis 2011] for the pairwise exchange.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <creek/core/messages/broadcast.hpp>
#include <creek/core/protocols/team.hpp>

namespace creek {

namespace detail {

template <class T, class Op>
struct reduction_requirements {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "ranks reduce values that are sent by their bytes: T must be trivially copyable "
                "and no pointer");
  static_assert(std::is_invocable_r_v<T, Op&, T, T>,
                "op(a, b) of a reduction must accept two values and return one");
  static constexpr bool met = true;
};

}  // namespace detail

/// Mixed into `Communicator`, whose send, recv, isend, irecv and exchange it uses. T is trivially
/// copyable unless a name ends in `_moved`. Operators are associative; they are applied in the
/// order of the ranks, grouped the same way in every run, so that all ranks of an allreduce get the
/// same floating-point result.
template <class Communicator>
class collectives {
 public:
  /// Copies the root's data to all. Binomial tree, ceil(log2 P) steps.
  template <class T>
  void bcast(std::span<T> data, int root) {
    const int place = from_root(root);
    int reach = 1;
    for (; reach < ranks() && (place & reach) == 0; reach *= 2) {
    }
    if (place != 0) self().recv(data, to_rank(place - reach, root));
    for (reach /= 2; reach > 0; reach /= 2) {
      if (place + reach < ranks()) self().send(as_const(data), to_rank(place + reach, root));
    }
  }
  /// Copies the root's data to all by the given route.
  template <class T>
  void bcast(std::span<T> data, int root, broadcast_kind kind) {
    if (kind == broadcast_kind::binomial) return bcast(data, root);
    broadcast(self(), data, root, kind);
  }
  template <class T>
  [[nodiscard]] T bcast(T value, int root) {
    bcast(std::span<T>{&value, 1}, root);
    return value;
  }

  /// Combines the data of all, element by element, into the root's; elsewhere `data` is used up.
  /// Binomial tree, ceil(log2 P) steps, one more if the root is not rank 0.
  template <class T, class Op>
  void reduce(std::span<T> data, Op op, int root) {
    static_assert(detail::reduction_requirements<T, Op>::met);
    std::vector<T> other(data.size());
    for (int reach = 1; reach < ranks(); reach *= 2) {
      if ((me() & reach) != 0) {
        self().send(as_const(data), me() - reach);
        break;
      }
      if (me() + reach < ranks()) {
        self().recv(std::span<T>{other}, me() + reach);
        combine(data, std::span<const T>{other}, op);
      }
    }
    if (root == 0) return;
    if (me() == 0) self().send(as_const(data), root);
    if (me() == root) self().recv(data, 0);
  }
  /// Returns the combined value at the root, a part of it elsewhere.
  template <class T, class Op>
  [[nodiscard]] T reduce(T value, Op op, int root) {
    reduce(std::span<T>{&value, 1}, op, root);
    return value;
  }

  /// Combines element by element; every rank gets the result. Recursive doubling, floor(log2 P)
  /// steps, and two more if P is not a power of two.
  template <class T, class Op>
  void allreduce(std::span<T> data, Op op) {
    static_assert(detail::reduction_requirements<T, Op>::met);
    std::vector<T> other(data.size());
    const int half = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks())));
    const int extra = ranks() - half;  // that many pairs of neighbours act as one
    const bool paired = me() < 2 * extra;
    if (paired && me() % 2 == 0) {
      self().send(as_const(data), me() + 1);
      self().recv(data, me() + 1);
      return;
    }
    if (paired) {
      self().recv(std::span<T>{other}, me() - 1);
      combine_before(std::span<const T>{other}, data, op);
    }
    const int mine = paired ? me() / 2 : me() - extra;
    for (int reach = 1; reach < half; reach *= 2) {
      const int partner = mine ^ reach;
      const int rank = partner < extra ? 2 * partner + 1 : partner + extra;
      self().exchange(as_const(data), rank, std::span<T>{other}, rank);
      if (rank < me()) {
        combine_before(std::span<const T>{other}, data, op);
      } else {
        combine(data, std::span<const T>{other}, op);
      }
    }
    if (paired) self().send(as_const(data), me() - 1);
  }
  template <class T, class Op>
  [[nodiscard]] T allreduce(T value, Op op) {
    allreduce(std::span<T>{&value, 1}, op);
    return value;
  }

  /// Collects one block of equal size per rank in the root's `all`, in rank order.
  /// Binomial tree, ceil(log2 P) steps.
  template <class T>
  void gather(std::span<const T> mine, std::span<T> all, int root) {
    const std::size_t n = mine.size();
    const int place = from_root(root);
    std::vector<T> blocks(n * static_cast<std::size_t>(subtree(place)));
    std::copy(mine.begin(), mine.end(), blocks.begin());
    for (int reach = 1; reach < ranks(); reach *= 2) {
      if ((place & reach) != 0) {
        self().send(std::span<const T>{blocks}, to_rank(place - reach, root));
        return;
      }
      if (place + reach < ranks()) {
        const auto count = static_cast<std::size_t>(subtree(place + reach));
        self().recv(std::span<T>{blocks}.subspan(static_cast<std::size_t>(reach) * n, count * n),
                    to_rank(place + reach, root));
      }
    }
    put_in_rank_order(blocks, all, n, root);
  }
  template <class T>
  [[nodiscard]] std::vector<T> gather(const T& value, int root) {
    std::vector<T> all(me() == root ? static_cast<std::size_t>(ranks()) : 0);
    gather(std::span<const T>{&value, 1}, std::span<T>{all}, root);
    return all;
  }

  /// Reverses gather: rank i gets block i of the root's data. Binomial tree, ceil(log2 P) steps.
  template <class T>
  void scatter(std::span<const T> all, std::span<T> mine, int root) {
    const std::size_t n = mine.size();
    const int place = from_root(root);
    std::vector<T> blocks(n * static_cast<std::size_t>(subtree(place)));
    if (place == 0) {
      for (int i = 0; i < ranks(); ++i) {
        copy_block(all, to_rank(i, root), std::span<T>{blocks}, i, n);
      }
    }
    int reach = 1;
    for (; reach < ranks() && (place & reach) == 0; reach *= 2) {
    }
    if (place != 0) self().recv(std::span<T>{blocks}, to_rank(place - reach, root));
    for (reach /= 2; reach > 0; reach /= 2) {
      if (place + reach >= ranks()) continue;
      const auto count = static_cast<std::size_t>(subtree(place + reach));
      self().send(
          std::span<const T>{blocks}.subspan(static_cast<std::size_t>(reach) * n, count * n),
          to_rank(place + reach, root));
    }
    std::copy_n(blocks.begin(), n, mine.begin());
  }

  /// Collects one block of equal size per rank, in rank order, at every rank. Bruck, ceil(log2 P)
  /// steps.
  template <class T>
  void allgather(std::span<const T> mine, std::span<T> all) {
    const std::size_t n = mine.size();
    std::vector<T> blocks(n * static_cast<std::size_t>(ranks()));
    std::copy(mine.begin(), mine.end(), blocks.begin());
    for (int have = 1; have < ranks(); have *= 2) {
      const auto count = static_cast<std::size_t>(std::min(have, ranks() - have)) * n;
      self().exchange(std::span<const T>{blocks}.first(count), wrap(me() - have),
                      std::span<T>{blocks}.subspan(static_cast<std::size_t>(have) * n, count),
                      wrap(me() + have));
    }
    put_in_rank_order(blocks, all, n, me());
  }
  template <class T>
  [[nodiscard]] std::vector<T> allgather(const T& value) {
    std::vector<T> all(static_cast<std::size_t>(ranks()));
    allgather(std::span<const T>{&value, 1}, std::span<T>{all});
    return all;
  }

  /// Sends block i of `out` to rank i; its block becomes block i of `in`. Pairwise, P - 1 steps.
  template <class T>
  void all_to_all(std::span<const T> out, std::span<T> in) {
    const std::size_t n = out.size() / static_cast<std::size_t>(ranks());
    copy_block(out, me(), in, me(), n);
    for (int step = 1; step < ranks(); ++step) {
      const int to = wrap(me() + step), from = wrap(me() - step);
      self().exchange(out.subspan(static_cast<std::size_t>(to) * n, n), to,
                      in.subspan(static_cast<std::size_t>(from) * n, n), from);
    }
  }

  /// Result of all_to_all_v: the blocks in rank order, and the length of each.
  template <class T>
  struct parts {
    std::vector<T> data;
    std::vector<std::uint64_t> counts;
  };
  /// Like all_to_all, with blocks of any length: `counts[i]` elements of `out` for rank i, in rank
  /// order. Exchanges the lengths first, then the data; 2 (P - 1) steps.
  template <class T>
  [[nodiscard]] parts<T> all_to_all_v(std::span<const T> out,
                                      std::span<const std::uint64_t> counts) {
    parts<T> in;
    in.counts.resize(counts.size());
    all_to_all(counts, std::span<std::uint64_t>{in.counts});
    const auto out_at = starts(counts), in_at = starts(in.counts);
    in.data.resize(in_at.back());
    const auto out_block = [&](int rank) {
      return out.subspan(out_at[index(rank)], counts[index(rank)]);
    };
    const auto in_block = [&](int rank) {
      return std::span<T>{in.data}.subspan(in_at[index(rank)], in.counts[index(rank)]);
    };
    std::copy_n(out_block(me()).begin(), counts[index(me())], in_block(me()).begin());
    for (int step = 1; step < ranks(); ++step) {
      const int to = wrap(me() + step), from = wrap(me() - step);
      self().exchange(out_block(to), to, in_block(from), from);
    }
    return in;
  }

  /// Moves object i of `out` to rank i; returns those received, in rank order. P - 1 steps.
  template <class T>
  [[nodiscard]] std::vector<T> all_to_all_moved(std::vector<T> out) {
    std::vector<std::optional<T>> in(out.size());
    in[index(me())].emplace(std::move(out[index(me())]));
    for (int step = 1; step < ranks(); ++step) {
      const int to = wrap(me() + step), from = wrap(me() - step);
      in[index(from)].emplace(self().exchange_moved(std::move(out[index(to)]), to, from));
    }
    std::vector<T> result;
    result.reserve(in.size());
    for (std::optional<T>& object : in) result.push_back(std::move(*object));
    return result;
  }

  /// Combines, element by element, the data of ranks 0 .. this one. Hillis and Steele,
  /// ceil(log2 P) steps.
  template <class T, class Op>
  void inclusive_scan(std::span<T> data, Op op) {
    std::vector<T> other(data.size()), before(data.size());
    for (int reach = 1; reach < ranks(); reach *= 2) {
      std::copy(data.begin(), data.end(), before.begin());
      const bool sends = me() + reach < ranks(), receives = me() >= reach;
      // An empty message needs no partner.
      self().exchange(
          std::span<const T>{before}.first(sends ? before.size() : 0), sends ? me() + reach : me(),
          std::span<T>{other}.first(receives ? other.size() : 0), receives ? me() - reach : me());
      if (receives) combine_before(std::span<const T>{other}, data, op);
    }
  }
  template <class T, class Op>
  [[nodiscard]] T inclusive_scan(T value, Op op) {
    inclusive_scan(std::span<T>{&value, 1}, op);
    return value;
  }
  /// Returns `first` combined with the values of the ranks before this one; takes one step more.
  template <class T, class Op>
  [[nodiscard]] T exclusive_scan(const T& value, Op op, T first) {
    const T through = inclusive_scan(value, op);
    T before{};
    const bool sends = me() + 1 < ranks(), receives = me() != 0;
    self().exchange(std::span<const T>{&through, sends ? 1u : 0u}, sends ? me() + 1 : 0,
                    std::span<T>{&before, receives ? 1u : 0u}, receives ? me() - 1 : 0);
    return receives ? op(first, before) : first;
  }

 private:
  Communicator& self() noexcept { return static_cast<Communicator&>(*this); }
  [[nodiscard]] int me() noexcept { return self().rank(); }
  [[nodiscard]] int ranks() noexcept { return self().size(); }
  [[nodiscard]] int wrap(int rank) noexcept { return (rank + ranks()) % ranks(); }
  // Converts ranks to places counted from the root on, in which trees are laid out, and back.
  [[nodiscard]] int from_root(int root) noexcept { return wrap(me() - root); }
  [[nodiscard]] int to_rank(int place, int root) noexcept { return (place + root) % ranks(); }
  // Returns how many places the binomial subtree of `place` has, with itself: a contiguous run.
  [[nodiscard]] int subtree(int place) noexcept {
    return place == 0 ? ranks() : std::min(place & -place, ranks() - place);
  }
  static constexpr std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

  template <class T>
  static std::span<const T> as_const(std::span<T> data) noexcept {
    return data;
  }
  template <class T>
  static void copy_block(std::span<const T> from, int i, std::span<T> to, int j, std::size_t n) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(index(i) * n), n,
                to.begin() + static_cast<std::ptrdiff_t>(index(j) * n));
  }
  // Block i belongs to the i-th rank counted from `first` on.
  template <class T>
  void put_in_rank_order(const std::vector<T>& blocks, std::span<T> all, std::size_t n, int first) {
    for (int i = 0; i < ranks(); ++i) {
      copy_block(std::span<const T>{blocks}, i, all, to_rank(i, first), n);
    }
  }
  [[nodiscard]] static std::vector<std::size_t> starts(std::span<const std::uint64_t> counts) {
    std::vector<std::size_t> at{0};
    for (const std::uint64_t count : counts) at.push_back(at.back() + count);
    return at;
  }
  template <class T, class Op>
  static void combine(std::span<T> data, std::span<const T> after, Op op) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = op(data[i], after[i]);
  }
  template <class T, class Op>
  static void combine_before(std::span<const T> before, std::span<T> data, Op op) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = op(before[i], data[i]);
  }
};

}  // namespace creek
