// SPDX-License-Identifier: Apache-2.0
// Routes for a broadcast over sends and receives, for comparison: the best one depends on the size
// of the message, the number of ranks and whether the messages are pipelined. Sources:
// [Broadcast 2011]; `simple` is RCCE's own [Mattson 2010]. The binomial tree is in collectives.hpp.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek {

enum class broadcast_kind {
  simple,       ///< the root sends to every rank, one after the other: P - 1 steps
  chain,        ///< each rank sends to the next: P - 1 steps, no rank sends more than once
  binary_tree,  ///< each rank sends to two: 2 log2 P steps
  two_tree,     ///< two chains, one from the root and one from the middle: P / 2 steps
  binomial      ///< as collectives::bcast: log2 P steps
};

inline constexpr std::array<std::string_view, 5> broadcast_names{"simple", "chain", "binary-tree",
                                                                 "two-tree", "binomial"};

/// Copies the root's data to all ranks of the channel, which has rank(), size(), and blocking send
/// and recv of a span. All ranks call it with the same size, root and kind (not binomial).
template <class Channel, class T>
void broadcast(Channel& channel, std::span<T> data, int root, broadcast_kind kind) {
  const int size = channel.size();
  // A place is a rank counted from the root on.
  const int place = (channel.rank() - root + size) % size;
  const auto rank_of = [&](int at) { return (at + root) % size; };
  const auto send = [&](int at) {
    if (at < size) channel.send(std::span<const T>{data}, rank_of(at));
  };
  const auto recv = [&](int at) { channel.recv(data, rank_of(at)); };
  if (kind == broadcast_kind::simple) {
    if (place != 0) return recv(0);
    for (int other = 1; other < size; ++other) send(other);
  } else if (kind == broadcast_kind::binary_tree) {
    if (place != 0) recv((place - 1) / 2);
    send(2 * place + 1);
    send(2 * place + 2);
  } else {
    // Begin of the second chain; behind the last rank for a single one.
    const bool one_chain = kind == broadcast_kind::chain || size == 1;
    const int second = one_chain ? size : size / 2 + (size % 2 == 0 ? 1 : 0);
    if (place != 0) recv(place == second ? 0 : place - 1);
    if (place == 0) send(second);
    if (place + 1 != second) send(place + 1);
  }
}

}  // namespace creek
