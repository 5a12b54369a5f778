// SPDX-License-Identifier: Apache-2.0
// Ranks and their messages in simulated time: every rank is a flow of control with a clock of its
// own, in one host thread; events happen in the order of time, always the same. Conservative
// simulation as in backends/scc [Chandy 1979], messages by LogGP [Alexandrov 1995].
//
// A message costs its sender and its receiver `overhead` of processor time each. It leaves when the
// sender's port is free, which it occupies for the larger of `gap` and bytes / bandwidth, and
// arrives after the latency at the receiver's port, which it occupies as long: so messages of many
// ranks to one queue there. A message above the eager limit first asks the receiver and leaves when
// the answer is back. Between the ports the network has no limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include <creek/core/threads/stack_switch.hpp>
#include <creek/core/units.hpp>

#include "constants.hpp"

namespace creek::tool::machines {

/// Returns the processor time that this process has used, of all its threads.
[[nodiscard]] std::chrono::nanoseconds process_cpu_time();

/// One message between two ranks, as the log of a simulation has it.
struct message_record {
  int from, to;
  std::size_t bytes;
  friend auto operator<=>(const message_record&, const message_record&) = default;
};

/// A message that came by post(), and its sender.
struct posted_message {
  int from = 0;
  int kind = 0;
  std::vector<std::byte> content;
};

class rank_simulation {
 public:
  rank_simulation(int ranks, const constants& costs);
  ~rank_simulation();
  rank_simulation(const rank_simulation&) = delete;
  rank_simulation& operator=(const rank_simulation&) = delete;

  /// Runs body(rank) on every rank from time 0 on, until all have returned. Rethrows the first
  /// exception; a deadlock is one. Call it once.
  void run(const std::function<void(int rank)>& body);

  // --- After the run
  [[nodiscard]] exact_time end() const noexcept { return end_; }
  /// Returns the time for which a rank computed, without waits and overheads.
  [[nodiscard]] exact_time computed(int rank) const { return ranks_[index(rank)].computed; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Keeps a record of each message from now on.
  void keep_log() noexcept { keeps_log_ = true; }
  [[nodiscard]] const std::vector<message_record>& log() const noexcept { return log_; }

  /// Charges the processor time that this process uses between two calls of a rank as computation
  /// of the rank, from now on: for real programs. A run then does not repeat.
  void measure_computation() noexcept { measures_ = true; }
  /// Returns the part of computed() in a stage that doing() named, of a measured run.
  [[nodiscard]] exact_time computed_in(int rank, const std::string& stage) const;

  // --- On a rank
  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] exact_time now() const noexcept { return here().clock; }
  void compute(exact_time span) noexcept {
    here().clock += span;
    here().computed += span;
  }
  /// Records what the rank does from here on.
  void doing(const char* stage);

  struct message;
  /// One side of a message: a send or a receive that was begun; null when it is complete.
  struct side {
    message* of = nullptr;
    bool receives = false;
  };
  /// Begins to send `bytes` bytes. A null `data` stands for content that nobody computes.
  [[nodiscard]] side begin_send(const std::byte* data, std::size_t bytes, int to);
  [[nodiscard]] side begin_receive(std::byte* data, std::size_t bytes, int from);
  void wait(side& begun);
  [[nodiscard]] bool test(side& begun);

  /// Sends a message that its receiver takes in the order of arrival, from whatever rank.
  void post(int to, int kind, std::vector<std::byte> content);
  [[nodiscard]] bool has_message();
  [[nodiscard]] posted_message take();

 private:
  struct rank_state : switch_context {
    rank_simulation* home = nullptr;
    int number = 0;
    exact_time clock, computed;
    exact_time out_free, in_free;  ///< when the ports are free
    bool finished = false, waits_for_posted = false;
    std::deque<message*> arrived;  ///< posted messages that arrived
    std::string stage;
    std::map<std::string, exact_time> computed_in;
  };
  enum class step : std::uint8_t { resume, asks, leaves, arrives, posted_arrives };
  struct event {
    exact_time time;
    std::uint64_t number;  ///< events of one time happen in the order in which they were made
    step kind;
    int rank;
    message* of;
    friend bool operator<(const event& a, const event& b) {  // the queue has the largest first
      return b.time != a.time ? b.time < a.time : b.number < a.number;
    }
  };
  /// Messages from one rank to another that one side has begun: all sends, or all receives.
  struct channel {
    message* first = nullptr;
    message* last = nullptr;
  };

  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] rank_state& here() noexcept { return ranks_[index(running_)]; }
  [[nodiscard]] const rank_state& here() const noexcept { return ranks_[index(running_)]; }
  [[nodiscard]] exact_time occupied(std::size_t bytes) const noexcept;
  /// Returns the message of a pair of ranks whose other side has begun, or else a new one.
  message& match(int from, int to, bool receives);
  message& make();
  void release(message& unused);
  void count(int to, std::size_t bytes);

  /// Lives for a call: charges the processor time before it, and begins to measure after it.
  class call;
  void charge_measured();

  void push(exact_time time, step kind, int rank, message* of = nullptr);
  void in_order();  ///< lets the events that are due before the running rank happen first
  void leave();     ///< lets events happen until one resumes the running rank
  void handle(const event& next);
  void send_now(message& of, exact_time at);
  [[nodiscard]] exact_time receive_now(int rank, std::size_t bytes, exact_time at);
  /// Returns when a rank that waits since `since` notices what is there at `ready`.
  [[nodiscard]] exact_time noticed(exact_time since, exact_time ready, std::size_t bytes) const;
  void complete_now(side& begun);  ///< waits, if need be
  void finish_receive(message& of);
  void enter(rank_state& rank);
  void unwind();
  void require_peer(int rank) const;

  exact_time latency_, overhead_, gap_, spin_;
  double seconds_per_byte_;
  std::size_t eager_;
  std::vector<rank_state> ranks_;
  std::vector<channel> channels_;
  std::deque<message> pool_;
  std::vector<message*> unused_;
  std::priority_queue<event> events_;
  std::uint64_t made_ = 0, messages_ = 0, bytes_ = 0;
  int running_ = -1;
  exact_time end_;
  switch_context native_;
  const std::function<void(int)>* body_ = nullptr;
  std::exception_ptr failure_;
  bool unwinds_ = false, keeps_log_ = false, measures_ = false;
  std::chrono::nanoseconds measured_from_{};
  std::vector<message_record> log_;
};

/// A message, known to its sides and to the simulation.
struct rank_simulation::message {
  int from = 0, to = 0, kind = 0;
  std::size_t bytes = 0;
  std::vector<std::byte> content;
  std::byte* target = nullptr;
  bool is_eager = false;
  bool send_begun = false, receive_begun = false;
  bool asked = false;  ///< the receiver knows that its sender waits
  bool is_sent = false, is_there = false;
  bool sender_waits = false, receiver_waits = false;
  bool sender_done = false, receiver_done = false;
  exact_time sent, there;  ///< when its sender may go on, and when the receiver has it
  message* next = nullptr;
};

}  // namespace creek::tool::machines
