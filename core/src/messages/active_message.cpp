// SPDX-License-Identifier: Apache-2.0
#include <creek/core/decimal.hpp>
#include <creek/core/messages/active_message.hpp>

#include <string>

#include <creek/core/error.hpp>

namespace creek::detail {

void refuse_message(int to, int members, std::size_t bytes) {
  if (to < 0 || to >= members) {
    throw usage_error("active message: there is no rank " + decimal(to) + " among " +
                      decimal(members));
  }
  throw usage_error("active message: " + decimal(bytes) + " bytes; at most " +
                    decimal(active_message_bytes) + " fit");
}

}  // namespace creek::detail
