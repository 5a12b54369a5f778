// SPDX-License-Identifier: Apache-2.0
// The transport of messages between the workers of a scheduler: a ring for each receiver.
#pragma once

#include <vector>

#include <creek/core/messages/synchronized_ring.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/host/memory.hpp>

namespace creek::host_backend {

/// The ring of one receiver, and its end of all other rings; used by one worker. On lines of its
/// own, and not beside the next one's, which would be fetched along with it.
struct alignas(128) message_ring : synchronized_ring<memory> {
  static constexpr std::size_t slots = 256;

  explicit message_ring(host_backend::memory& view)
      : synchronized_ring(view, team(view), 0, slots), counter_{2 * view.self().value} {}

  /// Returns whether every message for which a sender has taken a slot was received: one that is
  /// there may lie behind one that is still being written.
  bool is_empty() const noexcept {
    return memory().counter_value(counter_) == static_cast<word>(counts().received);
  }

 private:
  counter_id counter_;  ///< of the slots that senders have taken
};

/// One ring per worker, made when the first message is sent. All threads outside send by the last
/// one, which receives nothing.
struct message_rings {
  explicit message_rings(unsigned workers)
      : space(static_cast<int>(workers) + 1,
              {.mpm_bytes = message_ring::bytes_needed(0, message_ring::slots)}) {
    for (unsigned i = 0; i <= workers; ++i) {
      views.push_back(space.core(core_id{static_cast<int>(i)}));
    }
    each.reserve(views.size());
    for (memory& view : views) each.emplace_back(view);
  }

  memory_space space;
  std::vector<memory> views;
  std::vector<message_ring> each;
  spin_lock outside;  ///< held while a thread uses the last ring
};

}  // namespace creek::host_backend
