// SPDX-License-Identifier: Apache-2.0
// Tree along which a panel travels from its rank to all others, as in the broadcasts of
// core/messages/broadcast.hpp [Broadcast 2011]. Those forward whole messages; here ranks forward
// pieces.
#pragma once

#include <vector>

#include <creek/core/messages/broadcast.hpp>

namespace creek::linalg::detail {

/// Neighbours of one rank in the tree of one root.
struct panel_route {
  int parent = -1;  ///< rank to receive from; -1 at the root
  std::vector<int> children;
};

/// Calls edge(from, to) for every edge of the tree over positions 0 .. size - 1 with root 0; the
/// edges out of a position come in the order in which it sends.
template <class Edge>
void each_edge(broadcast_kind kind, int size, Edge edge) {
  const int second = kind == broadcast_kind::two_tree ? size / 2 + (size % 2 == 0 ? 1 : 0) : size;
  for (int place = 0; place < size; ++place) {
    const auto to = [&](int other) {
      if (other < size) edge(place, other);
    };
    switch (kind) {
      case broadcast_kind::simple:
        for (int other = 1; place == 0 && other < size; ++other) to(other);
        break;
      case broadcast_kind::chain:
      case broadcast_kind::two_tree:
        if (place == 0 && second != 0) to(second);
        if (place + 1 != second) to(place + 1);
        break;
      case broadcast_kind::binary_tree:
        to(2 * place + 1);
        to(2 * place + 2);
        break;
      case broadcast_kind::binomial: {
        int reach = 1;
        while (reach < size && (place & reach) == 0) reach *= 2;
        for (reach /= 2; reach > 0; reach /= 2) to(place + reach);
        break;
      }
    }
  }
}

/// Returns the route of `rank`. With `next_first`, the rank after the root, which owns the next
/// panel, receives this one first, from the root itself, and forwards it to nobody.
inline panel_route route_of(broadcast_kind kind, bool next_first, int root, int rank, int size) {
  panel_route made;
  const auto connect = [&](int from, int to) {
    if ((root + from) % size == rank) made.children.push_back((root + to) % size);
    if ((root + to) % size == rank) made.parent = (root + from) % size;
  };
  if (!next_first || size < 3) {
    each_edge(kind, size, connect);
    return made;
  }
  connect(0, 1);
  const auto shifted = [](int place) { return place == 0 ? 0 : place + 1; };
  each_edge(kind, size - 1, [&](int from, int to) { connect(shifted(from), shifted(to)); });
  return made;
}

}  // namespace creek::linalg::detail
