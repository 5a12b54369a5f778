// SPDX-License-Identifier: Apache-2.0
// The rings by which workers, and threads outside, send messages to workers.
#pragma once

#include <vector>

#include <creek/core/spin_lock.hpp>
#include <creek/core/synchronized_ring.hpp>
#include <creek/host/memory.hpp>

namespace creek::host_backend {

/// One end, used by one worker. On lines of its own, and not beside the next end's, which would be
/// fetched along with it.
struct alignas(128) mailbox : synchronized_ring<memory> {
  static constexpr std::size_t slots = 256;

  explicit mailbox(host_backend::memory& view) : synchronized_ring(view, team(view), 0, slots) {}
};

/// One end per worker, made when the first message is sent. All threads outside send by the last
/// end, which receives nothing.
struct mailboxes {
  explicit mailboxes(unsigned workers)
      : space(static_cast<int>(workers) + 1,
              {.mpm_bytes = mailbox::bytes_needed(0, mailbox::slots)}) {
    for (unsigned i = 0; i <= workers; ++i) {
      views.push_back(space.core(core_id{static_cast<int>(i)}));
    }
    ends.reserve(views.size());
    for (memory& each : views) ends.emplace_back(each);
  }

  memory_space space;
  std::vector<memory> views;
  std::vector<mailbox> ends;
  spin_lock outside;  ///< held while a thread uses the last end
};

}  // namespace creek::host_backend
