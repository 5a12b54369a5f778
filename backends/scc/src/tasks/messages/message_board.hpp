// SPDX-License-Identifier: Apache-2.0
// The protocol, chosen by the options, by which simulated workers send each other messages.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <creek/core/messages/active_message.hpp>
#include <creek/tasking/options.hpp>

#include "tasks/pools/line_pool.hpp"
#include "tasks/queues/task_memory.hpp"

namespace creek::scc_backend {

/// One core's end of the protocol.
class message_end {
 public:
  using handler = void (*)(void* argument, std::byte* message, std::size_t bytes);

  virtual ~message_end() = default;
  [[nodiscard]] virtual bool try_send(int to, const void* message, std::size_t bytes) = 0;
  virtual std::size_t poll(handler handle, void* argument) = 0;
  [[nodiscard]] virtual const active_message_counts& counts() const noexcept = 0;
};

/// The protocol and what decides its size.
struct message_layout {
  message_protocol protocol = message_protocol::synchronized_ring;
  int members = 0;
  std::size_t room = 0;  ///< bytes of a core's memory that nothing else has from the beginning
};

/// Returns the bytes that a protocol takes of the message-passing memory of each core.
std::size_t message_bytes_needed(const message_layout& layout) noexcept;
/// Makes the end of memory.self() over memory that is zero, from offset `place` on.
std::unique_ptr<message_end> make_message_end(const message_layout& layout, task_memory& memory,
                                              std::size_t place);

/// All ends of the protocol, and the memory that they use.
struct message_board {
  std::vector<pool_lines> lines;
  std::vector<std::unique_ptr<message_end>> ends;
};

}  // namespace creek::scc_backend
