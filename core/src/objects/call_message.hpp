// SPDX-License-Identifier: Apache-2.0
// The form of the messages between object spaces: a header, then arguments, a result or a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/messages/wire.hpp>

namespace creek::detail {

enum class message_kind : std::uint8_t {
  call,     ///< `request`: for the answer
  post,     ///< a call without an answer
  destroy,  ///< an object; answered like a call
  result,
  failure,  ///< what a call threw
  credit,   ///< so many bytes of calls were served: `request`
  ask,      ///< rank 0 asks for the counts
  counts,   ///< so many messages sent and received
  release,  ///< the end of a barrier
};

/// The first bytes of each message.
struct message_header {
  std::uint32_t length = 0;
  std::uint32_t code = 0;  ///< number of the function * 16 + kind
  std::uint32_t request = 0;
  std::uint32_t object[2]{};  ///< lower and upper half of its number

  message_header() = default;
  explicit message_header(message_kind kind, std::uint32_t function = 0) noexcept
      : code(function << 4 | static_cast<std::uint32_t>(kind)) {}
  [[nodiscard]] message_kind kind() const noexcept { return static_cast<message_kind>(code & 15); }
  [[nodiscard]] std::uint32_t function() const noexcept { return code >> 4; }
  [[nodiscard]] std::uint64_t object_number() const noexcept {
    return std::uint64_t{object[1]} << 32 | object[0];
  }
};
static_assert(sizeof(message_header) == 20);

/// Lets the bytes be this header.
void put_header(std::vector<std::byte>& to, const message_header& header);

/// Throws creek::error (EBADMSG) for a message that is too short.
[[nodiscard]] message_header header_of(int from, std::span<const std::byte> message);

[[nodiscard]] byte_reader after_header(std::span<const std::byte> message);

}  // namespace creek::detail
