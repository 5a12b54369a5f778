// SPDX-License-Identifier: Apache-2.0
// The parts of a watcher: its own rank, its lines, and its two forms, for rank 0 and for others.
#pragma once

#include <array>
#include <chrono>
#include <string>

#include "watch.hpp"

namespace creek::mpi_backend {

using watch_clock = std::chrono::steady_clock;

/// The rank of a watcher.
class watched_rank {
 public:
  watched_rank(descriptor control, descriptor process, pid_t pid, activity& record) noexcept
      : control_(std::move(control)), process_(std::move(process)), pid_(pid), record_(&record) {}

  [[nodiscard]] int control() const noexcept { return control_.get(); }
  /// A descriptor to poll, or -1.
  [[nodiscard]] int process() const noexcept { return process_.get(); }
  /// The rank's end of the connection is closed: it has ended or runs another program.
  void close_control() noexcept { control_.reset(); }

  /// Reads a request; returns false if there is none.
  [[nodiscard]] bool receive(watch_request& one) noexcept;
  void answer(watch_kind kind, int passed_socket = -1) const noexcept;
  void answer(const watch_request& one) const noexcept { send_to(control_.get(), one); }
  /// Answers `failed`. Writes the line itself if `kind` is granted: the rank may be killed first.
  void settle_error(watch_kind kind) const noexcept;
  /// Returns whether the process has ended.
  [[nodiscard]] bool has_ended(int wait_milliseconds = 0) const noexcept;
  /// Ends the process with exit code 1; kills it if it has not ended in half a second.
  void end() noexcept;
  /// Returns a message of the kind with what the rank is, or was, doing.
  [[nodiscard]] watch_message report(watch_kind kind) const noexcept;
  void set_identity(const watch_message& from) noexcept { identity_ = from; }
  [[nodiscard]] const watch_message& identity() const noexcept { return identity_; }

 private:
  void signal(int number) const noexcept;

  descriptor control_, process_;
  pid_t pid_;
  activity* record_;
  watch_message identity_;
  std::array<char, sizeof(watch_request::line)> line_{};  ///< about its error
};

/// Writes a line to standard error at once.
void write_watch_line(const std::string& line) noexcept;

/// Returns the line about a rank that has ended, by its last report.
[[nodiscard]] std::string line_about(const watch_message& last, bool is_unreachable);

/// The watcher of rank 0, which learns of the end of each rank first and writes the line.
[[noreturn]] void serve_ranks(watched_rank& own, const watch_request& asked);

/// The watcher of another rank.
[[noreturn]] void follow_rank_0(watched_rank& own, const watch_request& asked);

}  // namespace creek::mpi_backend
