// SPDX-License-Identifier: Apache-2.0
// When each core that is ready goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// A core goes on at a time. Of equal times the lower core is earlier.
struct core_event {
  virtual_time time;
  int core;
  friend auto operator<=>(const core_event&, const core_event&) = default;
};

/// A heap with four children per node, the earliest event first. It has at most one event per core.
class event_queue {
 public:
  explicit event_queue(int cores) { heap_.reserve(static_cast<std::size_t>(cores)); }

  bool empty() const noexcept { return heap_.empty(); }
  /// Returns the earliest event; the queue must not be empty, here and below.
  const core_event& earliest() const noexcept { return heap_.front(); }
  void push(core_event added) {
    heap_.push_back(added);
    sift_up(heap_.size() - 1, added);
  }
  core_event pop() {
    const core_event first = heap_.front();
    const core_event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
    return first;
  }
  /// Removes the earliest event and adds another one.
  core_event exchange(core_event added) noexcept {
    const core_event first = heap_.front();
    sift_down(0, added);
    return first;
  }
  /// Removes the event of a core, which must have one.
  void erase(int core) noexcept {
    std::size_t at = 0;
    while (heap_[at].core != core) ++at;
    const core_event last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    sift_down(at, last);
    sift_up(at, heap_[at]);
  }

 private:
  void sift_up(std::size_t at, core_event moved) noexcept {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!(moved < heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = moved;
  }
  /// Puts `moved` into the place of a removed event, or below it.
  void sift_down(std::size_t at, core_event moved) noexcept {
    const std::size_t size = heap_.size();
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= size) break;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < std::min(first + 4, size); ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < moved)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = moved;
  }

  std::vector<core_event> heap_;
};

}  // namespace creek::scc_backend
