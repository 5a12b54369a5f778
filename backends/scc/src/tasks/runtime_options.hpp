// SPDX-License-Identifier: Apache-2.0
// Options of a task runtime: checked, and what they say about it.
#pragma once

#include <creek/scc.hpp>
#include <creek/tasking/ext/executor.hpp>

#include "tasks/messages/message_board.hpp"

namespace creek::scc_backend {

/// Returns the options with defaults filled in; throws usage_error if the chip cannot serve them.
scc checked(scc chosen);
/// Returns the traits of a runtime with checked options.
ext::executor_traits traits_of(const scc& chosen);
/// Returns the messages' share of the message-passing memory, for checked options.
message_layout messages_of(const scc& chosen) noexcept;

}  // namespace creek::scc_backend
