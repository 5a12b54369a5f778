// SPDX-License-Identifier: Apache-2.0
#include <creek/core/messages/rank_messages.hpp>

#include <fmt/format.h>

#include <cerrno>

#include <creek/core/error.hpp>

namespace creek {

void rank_messages::throw_wrong_length(int from, std::size_t stated, std::size_t size) {
  throw error(EBADMSG, fmt::format("rank {} sent {} bytes of a message that states a length of {}",
                                   from, size, stated));
}

void rank_messages::throw_too_long(std::size_t size) {
  throw usage_error(fmt::format("a call or result of {} bytes; less than 4 GB are possible", size));
}

}  // namespace creek
