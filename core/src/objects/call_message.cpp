// SPDX-License-Identifier: Apache-2.0
#include "call_message.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <creek/core/error.hpp>

namespace creek::detail {

void put_header(std::vector<std::byte>& to, const message_header& header) {
  to.resize(sizeof header);
  std::memcpy(to.data(), &header, sizeof header);
}

message_header header_of(int from, std::span<const std::byte> message) {
  message_header header;
  if (message.size() < sizeof header) {
    throw error(EBADMSG,
                fmt::format("rank {} sent {} bytes, which are no call", from, message.size()));
  }
  std::memcpy(&header, message.data(), sizeof header);
  return header;
}

byte_reader after_header(std::span<const std::byte> message) {
  return byte_reader(message.subspan(sizeof(message_header)));
}

}  // namespace creek::detail
