// SPDX-License-Identifier: Apache-2.0
// Waits for file descriptors, without keeping a worker from other tasks.
#pragma once

#include <stop_token>

#include <creek/core/language.hpp>

namespace creek {

/// Waits until a read from `descriptor` would not block: there are bytes, a connection to accept, a
/// failure, or the end. The calling task waits, and its worker runs others. Returns true then, and
/// false once `stop` is requested before that. Returns at once for a regular file, which the system
/// does not watch; a foreign thread, and a task of a backend with virtual time, waits on its
/// thread, the latter without an end by `stop`. The descriptor stays open meanwhile, and others
/// may take what has come, so a read that must not block needs O_NONBLOCK or MSG_DONTWAIT. One
/// thread of the process watches all descriptors, by epoll. Throws error (EBADF, ENOMEM, or the
/// system refuses the thread).
[[nodiscard]] bool wait_readable(int descriptor, const std::stop_token& stop);
/// Does the same for a write: there is room, or the other end is closed.
[[nodiscard]] bool wait_writable(int descriptor, const std::stop_token& stop);

/// The same, until the descriptor is ready.
void wait_readable(int descriptor);
void wait_writable(int descriptor);

}  // namespace creek
