// SPDX-License-Identifier: Apache-2.0
// The tasks that used a block last: its writer, or those that changed it in any order, and its
// readers since then. Used by the enqueuing thread only.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recycling_pool.hpp"

namespace creek::linalg::detail {

enum class dependence : std::uint8_t {
  flow,    ///< the later task reads what the earlier one writes
  anti,    ///< ... writes what the earlier one reads
  output,  ///< ... writes what the earlier one writes
};

constexpr bool reads(access how) noexcept {
  return how != access::out;
}
constexpr bool writes(access how) noexcept {
  return how != access::in;
}

/// `Node` identifies a task: cheap to copy, comparable; `Node{}` is no task. age_of() is 0 for no
/// task and grows in the order of add().
constexpr std::uint64_t age_of(std::integral auto node) noexcept {
  return static_cast<std::uint64_t>(node);
}

template <class Node>
struct block_user {
  Node task;
  block_user* next;
};

/// Tasks that use a block in the same way, newest first.
template <class Node>
struct user_list {
  static constexpr std::uint32_t first_prune = 16;

  block_user<Node>* first = nullptr;
  std::uint32_t count = 0;
  std::uint32_t prune_at = first_prune;
};

template <class Node>
struct block_uses {
  Node writer{};
  user_list<Node> readers;        ///< since the last writer or the last commuters
  std::uint32_t commutation = 0;  ///< number of its commutation, 0: none since the last writer
  /// The writer was dropped before it became a task: the block holds no valid result.
  bool spoilt = false;
};

/// Uses of a block that tasks change in any order.
template <class Node>
struct commutation {
  user_list<Node> commuters;
  bool is_open = false;  ///< no reader since: the next commuter need not wait for these
  // While it is open, the uses that each of the commuters waits for:
  user_list<Node> readers_before;
  user_list<Node> values_before;  ///< the commuters before those readers; if none, the writer
};

/// The lists of users of all blocks, with their memory. A function's `live` argument tells whether
/// a task may still be unfinished; other tasks are forgotten.
template <class Node>
class user_lists {
 public:
  using uses = block_uses<Node>;
  using list = user_list<Node>;
  using user = block_user<Node>;

  /// Calls edge(Node, dependence, bool affine) for the tasks that one waits for which uses the
  /// block as `how` says. `joins`: it is this block that the task changes commutatively, not one
  /// that overlaps.
  template <class Edge>
  void find_dependences(const uses& at, access how, bool joins, Edge edge) const {
    if (at.commutation == 0) [[likely]] {
      find_among(at.readers.first, nullptr, at.writer, how, edge);
    } else {
      find_with_commuters(at, how, joins, edge);
    }
  }
  /// Returns whether a task that wrote what the block holds `has_failed`.
  template <class HasFailed>
  bool any_writer(const uses& at, access how, bool joins, HasFailed has_failed) const {
    if (at.commutation == 0) [[likely]]
      return has_failed(at.writer);
    const user* const values = front(at, how, joins).values;
    for (const user* each = values; each != nullptr; each = each->next) {
      if (has_failed(each->task)) return true;
    }
    return values == nullptr && has_failed(at.writer);
  }
  /// Returns the maximum number of edges of find_dependences().
  std::size_t max_edges(const uses& at) const noexcept {
    std::size_t edges = 1 + at.readers.count;
    if (at.commutation != 0) {
      const commutation<Node>& of = commutations_[at.commutation];
      edges += of.commuters.count + of.readers_before.count + of.values_before.count;
    }
    return edges;
  }

  /// Replaces the writer; forgets the other users.
  void become_writer(uses& at, Node self) noexcept {
    forget(at);
    at.readers.prune_at = list::first_prune;
    at.writer = self;
    at.spoilt = false;
  }
  template <class Live>
  void become_reader(uses& at, Node self, Live& live) noexcept {
    if (at.commutation != 0) [[unlikely]] {
      commutation<Node>& of = commutations_[at.commutation];
      if (of.is_open) {
        of.is_open = false;
        forget(of.readers_before);
        forget(of.values_before);
      }
    }
    add(at.readers, self, live);
  }
  template <class Live>
  void become_commuter(uses& at, Node self, Live& live) noexcept {
    if (at.commutation == 0) {
      at.commutation = free_commutations_.back();
      free_commutations_.pop_back();
    }
    commutation<Node>& of = commutations_[at.commutation];
    if (!of.is_open) {
      of.is_open = true;
      of.readers_before = std::exchange(at.readers, {});
      of.values_before = std::exchange(of.commuters, {});
    }
    add(of.commuters, self, live);
  }

  template <class Live>
  void prune(uses& at, Live& live) noexcept {
    prune(at.readers, live);
    if (at.commutation == 0) [[likely]]
      return;
    commutation<Node>& of = commutations_[at.commutation];
    prune(of.commuters, live);
    prune(of.readers_before, live);
    prune(of.values_before, live);
    if (of.commuters.first == nullptr && of.readers_before.first == nullptr &&
        of.values_before.first == nullptr) {
      drop_commutation(at);
    }
  }
  void forget(uses& at) noexcept {
    forget(at.readers);
    if (at.commutation == 0) [[likely]]
      return;
    commutation<Node>& of = commutations_[at.commutation];
    forget(of.commuters);
    forget(of.readers_before);
    forget(of.values_before);
    drop_commutation(at);
  }

  /// Returns whether a task with `count` operands can become a user without allocation.
  bool has_room(std::size_t count) const noexcept { return pool_.available() >= count; }
  /// Makes room for `count` users. Reclaims those that have finished, of blocks that are never
  /// written again, by `prune_all`, when there are as many users as `blocks` to scan, and grows if
  /// that frees little: so there are at most twice the unfinished users, or one per block, or a
  /// megabyte.
  template <class PruneAll>
  void make_room(std::size_t count, std::size_t blocks, PruneAll prune_all) {
    if (pool_.capacity() >= std::max(blocks, enough)) prune_all();
    if (pool_.available() < std::max(count, pool_.capacity() / 2)) {
      pool_.reserve(pool_.available() + std::max(count, pool_.capacity() / 2));
    }
  }
  /// Makes room for the commutations that a task with `count` operands may begin.
  void make_room_to_commute(std::size_t count) {
    while (free_commutations_.size() < count) {
      const std::size_t more = std::max<std::size_t>(16, commutations_.size());
      free_commutations_.reserve(commutations_.size() + more);
      const std::size_t first = std::max<std::size_t>(1, commutations_.size());  // 0 is none
      commutations_.resize(first + more);
      for (std::size_t i = first + more; i-- > first;) {
        free_commutations_.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }

  /// Returns whether a task may depend on what the block holds, or on its uses.
  template <class Live>
  static bool is_needed(const uses& at, Live& live) noexcept {
    return at.readers.first != nullptr || at.commutation != 0 || at.spoilt ||
           (at.writer != Node{} && live(at.writer));
  }
  /// Returns whether the count of the readers is right.
  static bool verify(const uses& at) noexcept {
    std::uint32_t count = 0;
    for (const user* each = at.readers.first; each != nullptr; each = each->next) ++count;
    return count == at.readers.count;
  }
  std::size_t bytes() const noexcept {
    return pool_.bytes() + commutations_.size() * sizeof(commutation<Node>);
  }

 private:
  // Below (1.5 MB), forgetting costs more than it saves.
  static constexpr std::size_t enough = 65536;

  struct used_before {
    const user* readers;  ///< since the values
    const user* values;   ///< tasks that wrote what the block holds; none: its writer
  };
  used_before front(const uses& at, access how, bool joins) const noexcept {
    const commutation<Node>& of = commutations_[at.commutation];
    if (of.is_open && joins && how == access::commutative) {
      return {of.readers_before.first, of.values_before.first};
    }
    return {at.readers.first, of.commuters.first};
  }
  template <class Edge>
  [[gnu::noinline]] void find_with_commuters(const uses& at, access how, bool joins,
                                             Edge& edge) const {
    const auto [readers, values] = front(at, how, joins);
    find_among(readers, values, at.writer, how, edge);
  }
  // Runs for each operand of each task.
  template <class Edge>
  [[gnu::always_inline]] static inline void find_among(const user* readers, const user* values,
                                                       Node writer, access how, Edge& edge) {
    // Each reader already waits for the earlier writer: with readers, no output edge is needed.
    if (reads(how) || readers == nullptr) {
      const dependence kind = reads(how) ? dependence::flow : dependence::output;
      if (values == nullptr && writer != Node{}) edge(writer, kind, writes(how));
      for (; values != nullptr; values = values->next) edge(values->task, kind, false);
    }
    if (!writes(how)) return;
    for (; readers != nullptr; readers = readers->next) {
      edge(readers->task, dependence::anti, false);
    }
  }

  template <class Live>
  void add(list& to, Node self, Live& live) noexcept {
    if (to.first != nullptr && to.first->task == self) return;
    // For blocks that are only read: keeps the list within twice the unfinished readers.
    if (to.count >= to.prune_at) {
      prune(to, live);
      to.prune_at = 2 * to.count + list::first_prune;
    }
    user* added = pool_.take();
    added->task = self;
    added->next = std::exchange(to.first, added);
    ++to.count;
  }
  template <class Live>
  void prune(list& in, Live& live) noexcept {
    for (user** link = &in.first; *link != nullptr;) {
      user* each = *link;
      if (live(each->task)) {
        link = &each->next;
        continue;
      }
      *link = each->next;
      pool_.put(each);
      --in.count;
    }
  }
  void forget(list& in) noexcept {
    while (in.first != nullptr) {
      user* gone = in.first;
      in.first = gone->next;
      pool_.put(gone);
    }
    in.count = 0;
  }

  void drop_commutation(uses& at) noexcept {
    commutations_[at.commutation] = {};
    free_commutations_.push_back(std::exchange(at.commutation, 0));
  }

  recycling_pool<user, &user::next> pool_;
  std::vector<commutation<Node>> commutations_;
  std::vector<std::uint32_t> free_commutations_;
};

}  // namespace creek::linalg::detail
