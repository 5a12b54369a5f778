// SPDX-License-Identifier: Apache-2.0
// The sockets of watchers: TCP connections that notice a dead peer within four seconds.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "message.hpp"

namespace creek::mpi_backend {

/// A file descriptor, closed by its destructor.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() { reset(); }
  void reset() noexcept;
  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Returns a socket that listens on a port of all interfaces, which it stores; none if the system
/// refuses.
[[nodiscard]] descriptor listen_on_any(std::uint16_t& port) noexcept;

/// Stores the addresses of this machine; the loopback interface comes last.
void store_addresses(watch_invitation& where) noexcept;

/// Returns the accepted connection, or none.
[[nodiscard]] descriptor accept_on(int listener) noexcept;

/// Connects to the watcher of rank 0, says `hello`, and returns the socket once it is welcome.
/// Returns none after `until`.
[[nodiscard]] descriptor connect_to(const watch_invitation& where, const watch_message& hello,
                                    std::chrono::steady_clock::time_point until) noexcept;

/// Send without waiting: a peer that does not read loses the message.
void send_to(int socket, const watch_message& one) noexcept;
void send_to(int socket, const watch_request& one, int passed_socket = -1) noexcept;

/// Collects the bytes of messages from a connection.
class message_reader {
 public:
  enum class state { open, closed, unreachable };
  /// Reads what is there; returns whether a message is complete, and stores it.
  [[nodiscard]] bool read(int socket, watch_message& one) noexcept;
  [[nodiscard]] state now() const noexcept { return state_; }

 private:
  std::array<unsigned char, sizeof(watch_message)> bytes_{};
  std::size_t filled_ = 0;
  state state_ = state::open;
};

/// Returns whether an error of a socket says that the peer's machine does not answer.
[[nodiscard]] bool is_unreachable(int error) noexcept;

}  // namespace creek::mpi_backend
