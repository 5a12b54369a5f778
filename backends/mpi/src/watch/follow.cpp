// SPDX-License-Identifier: Apache-2.0
// The watcher of a rank other than 0.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "watcher.hpp"

namespace creek::mpi_backend {
namespace {

class follower {
 public:
  follower(watched_rank& own, descriptor messages, const watch_invitation& rank_0)
      : own_(&own), messages_(std::move(messages)), rank_0_host_(rank_0.host) {}

  [[noreturn]] void run() {
    constexpr int between_states = 1000;  // milliseconds
    for (;;) {
      std::array<pollfd, 3> all{{{messages_.get(), POLLIN, 0},
                                 {own_->control(), POLLIN, 0},
                                 {own_->process(), POLLIN, 0}}};
      const int ready = poll(all.data(), all.size(), between_states);
      if (ready == 0) send_state();
      if (ready <= 0) continue;
      if (all[0].revents != 0) hear_rank_0();
      if (all[1].revents != 0) hear_own_rank();
      if (all[2].revents != 0) report_end();
    }
  }

 private:
  void hear_rank_0() {
    watch_message one;
    if (!reader_.read(messages_.get(), one)) {
      if (reader_.now() != message_reader::state::open) rank_0_is_lost();
      return;
    }
    if (one.kind == watch_kind::end) end();
    const bool is_answer = one.kind == watch_kind::granted || one.kind == watch_kind::denied;
    if (is_answer) own_->settle_error(one.kind);
    if (one.kind == watch_kind::deputy) is_deputy_ = true;
    if (one.kind == watch_kind::no_deputy) is_deputy_ = false;
  }

  void hear_own_rank() {
    watch_request asked{};
    if (!own_->receive(asked)) {
      own_->close_control();
      if (own_->process() < 0) report_end();
      return;
    }
    watch_message forwarded = own_->report(asked.message.kind);
    forwarded.by_mpi = asked.message.by_mpi;
    send_to(messages_.get(), forwarded);
    if (asked.message.kind == watch_kind::bye) _exit(0);
  }

  void send_state() {
    const watch_message now = own_->report(watch_kind::state);
    if (now.operation == sent_.operation && now.stage == sent_.stage) return;
    send_to(messages_.get(), sent_ = now);
  }

  /// Tells rank 0's watcher that this rank has ended, and waits until the line is written; it may
  /// be the one about this rank's error.
  [[noreturn]] void report_end() {
    send_to(messages_.get(), own_->report(watch_kind::gone));
    const auto until = watch_clock::now() + std::chrono::seconds(3);
    while (watch_clock::now() < until) {
      pollfd answer{.fd = messages_.get(), .events = POLLIN, .revents = 0};
      if (poll(&answer, 1, 100) == 1) hear_rank_0();
    }
    _exit(0);
  }

  /// One watcher, on another machine if there is one, writes the line in place of rank 0's.
  [[noreturn]] void rank_0_is_lost() {
    if (is_deputy_) {
      const bool is_cut_off = reader_.now() == message_reader::state::unreachable;
      write_watch_line(fmt::format("creek: rank 0 on {} {}: the run ends\n", rank_0_host_.data(),
                                   is_cut_off ? "is unreachable" : "is no longer watched"));
    }
    end();
  }

  [[noreturn]] void end() {
    own_->end();
    _exit(0);
  }

  watched_rank* own_;
  descriptor messages_;
  message_reader reader_;
  watch_message sent_{};
  std::array<char, 64> rank_0_host_;
  bool is_deputy_ = false;
};

}  // namespace

void follow_rank_0(watched_rank& own, const watch_request& asked) {
  const auto until = watch_clock::now() + std::chrono::seconds(2);
  watch_message hello = asked.message;
  hello.kind = watch_kind::hello;
  descriptor messages = connect_to(asked.invitation, hello, until);
  hello.kind = watch_kind::lifeline;
  descriptor lifeline;
  if (messages) lifeline = connect_to(asked.invitation, hello, until);
  if (!lifeline) {
    hello.kind = watch_kind::bye;
    if (messages) send_to(messages.get(), hello);
    own.answer(watch_kind::refused);
    _exit(0);
  }
  send_to(messages.get(), own.report(watch_kind::state));  // from now on the rank is watched
  own.answer(watch_kind::joined, lifeline.get());
  lifeline.reset();  // the rank's alone: the system closes it when the rank ends
  follower(own, std::move(messages), asked.invitation).run();
}

}  // namespace creek::mpi_backend
