// SPDX-License-Identifier: Apache-2.0
// Messages on their way to one worker: a ring for each worker that sends it some, a list of those
// from threads outside, and those to itself.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/remote_message.hpp>

#include "pair_ring.hpp"

namespace creek::host_backend {

/// Messages of threads outside to one worker. Any thread adds; the worker takes all.
class outside_messages {
 public:
  static constexpr std::size_t limit = 4096;

  /// Returns false if too many messages wait already; the caller tries again.
  [[nodiscard]] bool try_push(std::unique_ptr<ext::kept_message>& added) noexcept {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= limit) {
      count_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    ext::kept_message* const message = added.release();
    sanitizer::releases(&newest_);
    message->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(message->next, message, std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
    }
    return true;
  }
  bool empty() const noexcept { return newest_.load(std::memory_order_acquire) == nullptr; }
  /// Appends all messages to `queue`, the oldest first; they wait until one_handled(). Called by
  /// the worker.
  void move_to(ext::message_queue& queue) noexcept {
    if (empty()) return;
    ext::kept_message* each = newest_.exchange(nullptr, std::memory_order_acquire);
    sanitizer::acquired(&newest_);
    ext::kept_message* oldest = nullptr;
    while (each != nullptr) oldest = std::exchange(each, std::exchange(each->next, oldest));
    while (oldest != nullptr) queue.push(std::exchange(oldest, oldest->next));
  }
  /// Makes room for another message.
  void one_handled() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<ext::kept_message*> newest_{nullptr};
  std::atomic<std::size_t> count_{0};
};

/// The messages that one worker receives, and its ends of the rings to others.
///
/// Messages are taken in the order of their turns, as far as they have arrived. A message that was
/// sent, to the knowledge of another's sender, before that one has an earlier turn or the same
/// ring, and has arrived when the other has; so it is taken first.
class alignas(128) message_box {
 public:
  message_box() = default;
  message_box(const message_box&) = delete;
  message_box& operator=(const message_box&) = delete;
  [[gnu::noinline]] ~message_box() {
    outside_.move_to(came_);
    for (ext::message_queue* each : {&came_, &own_}) {
      while (ext::kept_message* left = each->pop()) delete left;
    }
  }

  outside_messages& outside() noexcept { return outside_; }
  /// Draws a turn for a message to this worker. Any thread.
  message_turn next_turn() noexcept { return turns_.fetch_add(1, std::memory_order_acq_rel); }
  /// Returns the ring to `reader`, worker number `to` of `workers`; makes it at the first message.
  /// Only the worker calls it.
  pair_ring& ring_to(message_box& reader, unsigned to, std::size_t workers) {
    const std::size_t group = to / group_size;
    if (group < to_.size() && to_[group] != nullptr) [[likely]] {
      if (pair_ring* const ring = (*to_[group])[to % group_size].get()) [[likely]]
        return *ring;
    }
    return make_ring_to(reader, to, workers);
  }

  // Called by the worker.
  [[gnu::noinline]] bool has_message() const noexcept {
    if (!outside_.empty() || !came_.empty() || !own_.empty()) return true;
    for (const pair_ring* each = first(); each != nullptr; each = each->next_of_reader) {
      if (each->has_message()) return true;
    }
    return false;
  }
  /// Calls to.take(data, bytes) for messages of the rings, for about a ring full of each at most,
  /// and to.take(message) for some from outside and to itself that are there. These may wait, and
  /// this be called meanwhile.
  template <class Receiver>
  [[gnu::noinline]] void poll(const Receiver& to) {
    for (pair_ring* each = first(); each != nullptr; each = each->next_of_reader) {
      for (std::size_t left = pair_ring::lines; left > 0 && each->has_message();) {
        if (!each->is_in_turn() && !is_alone(*each)) {
          const message_turn turn = each->next_turn();
          take_before(turn, to);
          if (!each->has_message() || each->next_turn() != turn) continue;
        }
        left -= each->poll(to, left);
      }
    }
    outside_.move_to(came_);
    const std::size_t kept = own_.size() + came_.size();
    for (std::size_t left = std::min(kept, 2 * pair_ring::lines); left > 0; --left) {
      ext::message_queue* const from = earliest_kept(no_turn);
      if (from == nullptr) break;
      const message_turn turn = from->front()->turn;
      take_before(turn, to);
      if (!from->empty() && from->front()->turn == turn) to.take(pop(*from));
    }
  }
  /// Takes the next message with a turn before `turn`, as poll() does, if it is for `object`. One
  /// search is enough: what is there with such a turn was there when that turn was drawn.
  template <class Receiver>
  bool take_next_for(const ext::remote_cell& object, message_turn turn, const Receiver& to) {
    const source from = earliest(turn);
    if (from.is_none()) return false;
    const ext::message_head next =
        from.queue != nullptr ? ext::head_of(from.queue->front()->data) : from.ring->next_head();
    if (next.object != &object || next.is_retirement()) return false;
    take_from(from, 1, to);
    return true;
  }
  /// Keeps a message of the worker to itself; `news` counts what it has heard. A message that is
  /// `last` comes behind all whose sending happened before, and has its turn alone. Returns the
  /// turn.
  message_turn keep(ext::kept_message* own, std::uint64_t news, bool last) noexcept {
    if (last || own_news_ != news) own_turn_ = next_turn();
    own_news_ = last ? no_news : news;
    own->turn = own_turn_;
    own_.push(own);
    return own_turn_;
  }
  /// Returns whether a message to itself with that turn, or an earlier one, waits.
  bool keeps_until(message_turn turn) const noexcept {
    return !own_.empty() && own_.front()->turn <= turn;
  }
  /// Returns the number of messages that the worker has sent itself and not taken.
  std::size_t own() const noexcept { return own_.size(); }

  /// Returns false if the worker has taken all messages whose sending happened before. Any thread.
  [[gnu::noinline]] bool is_under_way() const noexcept {
    if (!outside_.empty()) return true;
    for (const pair_ring* each = first(); each != nullptr; each = each->next_of_reader) {
      if (each->is_under_way()) return true;
    }
    return false;
  }

 private:
  static constexpr message_turn no_turn = ~message_turn{0};  ///< after all others
  static constexpr std::uint64_t no_news = ~std::uint64_t{0};
  static constexpr std::size_t group_size = 64;
  using group = std::array<std::unique_ptr<pair_ring>, group_size>;

  /// Returns whether there are no messages but those of `ring`.
  bool is_alone(const pair_ring& ring) const noexcept {
    return first() == &ring && ring.next_of_reader == nullptr && outside_.empty() && own_.empty() &&
           came_.empty();
  }
  /// The place of a message that waits; neither: there is none.
  struct source {
    message_turn turn = no_turn;
    ext::message_queue* queue = nullptr;
    pair_ring* ring = nullptr;
    bool is_none() const noexcept { return queue == nullptr && ring == nullptr; }
  };
  /// Takes all that has arrived with a turn before `turn`.
  template <class Receiver>
  [[gnu::noinline]] void take_before(message_turn turn, const Receiver& to) {
    for (source from = earliest(turn); !from.is_none(); from = earliest(turn)) {
      take_from(from, pair_ring::lines, to);
    }
  }
  /// Takes the first message of a place, of a ring up to `limit` of the same turn.
  template <class Receiver>
  void take_from(const source& from, std::size_t limit, const Receiver& to) {
    if (from.queue != nullptr) {
      to.take(pop(*from.queue));
    } else {
      from.ring->poll(to, limit);
    }
  }
  /// Returns where the message with the earliest turn is, of those with a turn before `turn`.
  [[gnu::noinline]] source earliest(message_turn turn) noexcept {
    outside_.move_to(came_);
    source found{turn};
    for (pair_ring* each = first(); each != nullptr; each = each->next_of_reader) {
      if (!each->has_message() || each->next_turn() >= found.turn) continue;
      found = {each->next_turn(), nullptr, each};
    }
    if (ext::message_queue* const kept = earliest_kept(found.turn)) {
      found = {kept->front()->turn, kept, nullptr};
    }
    return found;
  }
  /// Returns the queue whose first message has the earlier turn, if it has one before `turn`. Those
  /// from outside come in the order of arrival: two that came in the other order than that of their
  /// turns do not know of each other.
  ext::message_queue* earliest_kept(message_turn turn) noexcept {
    ext::message_queue* found = nullptr;
    for (ext::message_queue* each : {&own_, &came_}) {
      if (each->empty() || each->front()->turn >= turn) continue;
      turn = each->front()->turn;
      found = each;
    }
    return found;
  }
  ext::kept_message* pop(ext::message_queue& from) noexcept {
    if (&from == &came_) outside_.one_handled();
    return from.pop();
  }
  pair_ring* first() const noexcept {
    pair_ring* const newest = newest_.load(std::memory_order_acquire);
    if (newest != nullptr) sanitizer::acquired(&newest_);
    return newest;
  }
  [[gnu::cold]] pair_ring& make_ring_to(message_box& reader, unsigned to, std::size_t workers) {
    if (to_.empty()) to_.resize((workers + group_size - 1) / group_size);
    auto& rings = to_[to / group_size];
    if (rings == nullptr) rings = std::make_unique<group>();
    auto& made = (*rings)[to % group_size];
    made = std::make_unique<pair_ring>();
    reader.add(*made);
    return *made;
  }
  void add(pair_ring& made) noexcept {
    sanitizer::releases(&newest_);
    made.next_of_reader = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(made.next_of_reader, &made, std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
    }
  }

  std::atomic<pair_ring*> newest_{nullptr};  ///< rings to this worker, linked
  outside_messages outside_;
  ext::message_queue came_;                 ///< from outside
  ext::message_queue own_;                  ///< from the worker to itself
  message_turn own_turn_ = 0;               ///< of the last message to itself
  std::uint64_t own_news_ = 0;              ///< what the worker had heard then
  std::vector<std::unique_ptr<group>> to_;  ///< rings from this worker, by reader
  alignas(64) std::atomic<message_turn> turns_{0};
};

}  // namespace creek::host_backend
