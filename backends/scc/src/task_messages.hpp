// SPDX-License-Identifier: Apache-2.0
// The protocol by which simulated workers send each other messages, whichever was chosen.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <creek/core/active_message.hpp>
#include <creek/tasking/options.hpp>

#include "task_memory.hpp"

namespace creek::scc_backend {

/// One core's end of it.
class message_end {
 public:
  using handler = void (*)(void* argument, std::byte* message, std::size_t bytes);

  virtual ~message_end() = default;
  [[nodiscard]] virtual bool try_send(int to, const void* message, std::size_t bytes) = 0;
  virtual std::size_t poll(handler handle, void* argument) = 0;
  [[nodiscard]] virtual const active_message_counts& counts() const noexcept = 0;
};

/// Bytes that it takes of the message-passing memory of each core.
std::size_t message_bytes_needed(message_protocol protocol, int members) noexcept;
/// The end of memory.self() over memory that is zero, from offset `place` on.
std::unique_ptr<message_end> make_message_end(message_protocol protocol, task_memory& memory,
                                              int members, std::size_t place);

/// All ends, and the memory that they use.
struct message_board {
  std::vector<pool_lines> lines;
  std::vector<std::unique_ptr<message_end>> ends;
};

}  // namespace creek::scc_backend
