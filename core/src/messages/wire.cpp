// SPDX-License-Identifier: Apache-2.0
#include <creek/core/messages/wire.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>

#include <creek/core/error.hpp>

namespace creek {

void byte_reader::throw_too_short(std::size_t wanted) const {
  throw error(EBADMSG, fmt::format("a message has {} bytes left where {} are to be read",
                                   left_.size(), wanted));
}

namespace detail {

void throw_too_many_to_send(std::size_t count) {
  throw std::length_error(
      fmt::format("a value of {} bytes or elements is too long to be sent: at most {}", count,
                  std::numeric_limits<std::uint32_t>::max()));
}

void throw_no_alternative(std::size_t index) {
  throw error(EBADMSG,
              fmt::format("a message names alternative {} of a variant, which has fewer", index));
}

}  // namespace detail
}  // namespace creek
