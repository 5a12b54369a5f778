// SPDX-License-Identifier: Apache-2.0
// This process as a rank of an MPI run, and its communicators as bytes: what mpi_communicator is
// made of, compiled once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/function_ref.hpp>
#include <creek/core/messages/rank_messages.hpp>
#include <creek/mpi/activity.hpp>
#include <creek/mpi/calls.hpp>

namespace creek::mpi_backend {

/// Returns the table of the implementation that started this process or is in it already, or the
/// one that is named ("openmpi", "mpich", or empty); loads its module, for good. Without a launcher
/// that is a rank alone, which needs no MPI. Throws usage_error that says what is missing.
const calls& load(const std::string& name = {});

/// An error that MPI returned.
class mpi_error : public error {
  using error::error;
};

/// Throws mpi_error with MPI's text if `code` is not 0.
void require(const calls& by, int code, const char* doing);

/// Returns how long a wait polls before it sleeps: CREEK_MPI_SPIN microseconds, or 200, longer than
/// it takes to wake a peer that has gone to sleep: else both would sleep by turns. 5 if less than
/// one processor is this rank's; 0 stands for an unknown number. Throws usage_error for a value
/// that is no number.
[[nodiscard]] std::chrono::microseconds spin_time(double processors);

/// Returns the maximum pause of a wait for so many bytes: of more than MPI sends at once, it copies
/// a part between two pauses.
[[nodiscard]] constexpr std::chrono::microseconds longest_sleep(std::size_t bytes) noexcept {
  constexpr std::size_t at_once = std::size_t{64} << 10;  // estimate
  return std::chrono::milliseconds(bytes > at_once ? 1 : 10);
}

/// Pauses of one wait: polling first, then sleep. A sleep is an eighth of the time waited so far,
/// at least 10 us and at most `longest`: an answer is noticed at most so much later, and a long
/// wait takes about a hundredth of a processor.
class back_off {
 public:
  back_off(std::chrono::microseconds spin, std::chrono::microseconds longest) noexcept
      : spin_(spin), longest_(longest) {}
  void pause();
  /// Returns how long a wait sleeps that has gone on for `waited`.
  [[nodiscard]] static std::chrono::nanoseconds sleep_after(std::chrono::nanoseconds waited,
                                                            std::chrono::microseconds longest) {
    return std::clamp<std::chrono::nanoseconds>(waited / 8, std::chrono::microseconds(10), longest);
  }

 private:
  using clock = std::chrono::steady_clock;
  std::chrono::microseconds spin_, longest_;
  unsigned polls_ = 0;
  bool sleeps_ = false;
  clock::time_point begin_{};
};

/// One communicator of MPI, used by the thread that made it: its functions throw usage_error in
/// another, and creek::error if MPI fails.
class channel {
 public:
  struct pending {
    request_handle handle{};
    bool receives = false;
    bool done = true;
    int peer = any_rank;    ///< the sender, when a receive from any rank is done
    std::size_t bytes = 0;  ///< of a receive from any rank: at most, and when it is done received
    bool from_any = false;
  };

  /// Duplicates the MPI_Comm at an address, or that of all ranks.
  channel(const calls& by, const void* mpi_comm);
  /// The part of `of` that this rank and others of the same color make, in the order of their keys.
  channel(channel& of, int color, int key);
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] std::string implementation() const;
  [[nodiscard]] const calls& by() const noexcept { return *by_; }
  void use_in_this_thread() noexcept { owner_ = std::this_thread::get_id(); }
  /// Returns the number of ranks on this machine; of a part, those of the whole.
  [[nodiscard]] int ranks_here() const noexcept { return ranks_here_; }
  /// Returns a number that differs from that of the ranks of other machines.
  [[nodiscard]] int machine() const noexcept { return machine_; }
  [[nodiscard]] bool is_part() const noexcept { return is_part_; }
  [[nodiscard]] std::chrono::microseconds spin() const noexcept { return spin_; }

  /// Returns this rank's share of the processors; of a part, that of the whole.
  [[nodiscard]] int processors() const noexcept { return processors_; }

  void begin_send(const void* data, std::size_t bytes, int to, pending& begun,
                  message_kind kind = message_kind::sent);
  void begin_receive(void* data, std::size_t bytes, int from, message_kind kind, pending& begun);
  /// Begins to receive a message of at most `bytes` bytes from any rank.
  void begin_receive_from_any(void* data, std::size_t bytes, pending& begun);
  [[nodiscard]] bool test(pending& begun);
  void wait(pending& begun);
  void forget(pending& begun) noexcept;

  void barrier();
  void broadcast(void* data, std::size_t bytes, int root);

  /// Copies a message and sends the copy. Returns false, and does nothing, if so much is on its way
  /// to that rank that there is no room.
  [[nodiscard]] bool try_post(const void* data, std::size_t bytes, int to);
  void post(const void* data, std::size_t bytes, int to);
  [[nodiscard]] bool has_posted(int from);
  void take(void* data, std::size_t bytes, int from);

 private:
  struct posted {
    pending request;
    std::vector<std::byte> copy;
  };
  /// Maximum bytes of messages posted to one rank that MPI has not taken over.
  static constexpr std::size_t mailbox_bytes = std::size_t{1} << 20;

  void require_thread_and_peer(int peer) const;
  [[nodiscard]] bool has_room(int to, std::size_t bytes);
  void finish(pending& begun, operation what);

  const calls* by_;
  void* communicator_ = nullptr;
  int rank_ = 0, size_ = 0, ranks_here_ = 1, processors_ = 1, machine_ = 0;
  bool is_part_ = false;  ///< its ranks have other numbers than those of the run
  std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::microseconds spin_;
  std::deque<posted> posted_;
  std::vector<std::size_t> posted_bytes_;  // by receiver
};

/// Returns messages of any length over a channel, which must outlive them.
[[nodiscard]] std::unique_ptr<rank_messages> make_rank_messages(channel& over);

/// Writes a line to standard error, and waits until a launcher that reads it through a pipe has
/// done so, at most half a second: MPICH's forgets what it has not read when a rank aborts.
void write_last_line(const std::string& line) noexcept;

/// Implements ranks(): initialises MPI, unless the program has, calls `body` and ends MPI. If
/// something throws, writes one line that names this rank and its machine to standard error, and
/// ends all ranks with exit code 1, or 2 after a usage_error. If a rank ends without a word, its
/// watcher does the same.
int run_rank(int& argc, char**& argv, function_ref<int(const calls&)> body);

}  // namespace creek::mpi_backend
