// SPDX-License-Identifier: Apache-2.0
// The watcher of rank 0: all others are connected to it, and it settles who ended first.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "watcher.hpp"

namespace creek::mpi_backend {
namespace {

using namespace std::chrono_literals;

/// An error of MPI, or the end of a rank by abort(), waits: the end of another rank that is not
/// known yet may be its cause. Libraries below MPI abort, before the system has closed the
/// connections of the rank that is gone: it frees its memory first.
constexpr auto may_be_caused = 300ms;

class rank_server {
 public:
  rank_server(watched_rank& own, const watch_request& asked)
      : own_(&own),
        token_(asked.invitation.token),
        peers_(static_cast<std::size_t>(asked.message.signal)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    watch_request answer{};
    answer.message.kind = watch_kind::invited;
    listener_ = listen_on_any(answer.invitation.port);
    own.answer(answer);
    if (!listener_ || !epoll_) _exit(0);
    follow(listener_.get(), source::listener, 0);
    follow(own.control(), source::control, 0);
    // Once: it stays readable.
    if (own.process() >= 0) follow(own.process(), source::process, 0, EPOLLIN | EPOLLONESHOT);
  }

  [[noreturn]] void run() {
    for (;;) {
      // The system lists what has become ready in the order in which it has.
      std::array<epoll_event, 64> ready;
      const int count =
          epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), patience());
      for (int i = 0; i < count; ++i) {
        const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
        handle(static_cast<source>(data >> 32), static_cast<std::uint32_t>(data));
      }
      if (deadline_ && watch_clock::now() >= *deadline_) decide();
    }
  }

 private:
  enum class source : std::uint32_t { control, process, listener, newcomer, messages, lifeline };
  enum class phase { watching, reported };

  struct connection {
    descriptor socket;
    message_reader reader;
  };
  struct peer {
    connection messages, lifeline;
    watch_message last{};
    bool is_watched = false;  ///< its watcher has both connections
    bool has_left = false;
    bool is_gone = false;  ///< by its watcher's report
    bool is_unreachable = false;
  };

  void follow(int fd, source from, std::size_t index, std::uint32_t events = EPOLLIN) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = std::uint64_t{static_cast<std::uint32_t>(from)} << 32 | index;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
    }
  }
  [[nodiscard]] int patience() const {
    if (!deadline_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - watch_clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }

  void handle(source from, std::size_t index) {
    switch (from) {
      case source::control:
        return hear_own_rank();
      case source::process:
        return suspect(0);
      case source::listener:
        return accept_newcomer();
      case source::newcomer:
        return hear_newcomer(index);
      case source::messages:
        return hear(index);
      case source::lifeline:
        return look_at_lifeline(index);
    }
  }

  void hear_own_rank() {
    watch_request asked{};
    if (!own_->receive(asked)) {
      own_->close_control();
      return suspect(0);
    }
    if (asked.message.kind == watch_kind::failed) return weigh_error(0, asked.message.by_mpi != 0);
    if (asked.message.kind != watch_kind::bye) return;
    peers_[0].has_left = true;
    exit_if_all_ended();
  }

  void accept_newcomer() {
    descriptor made = accept_on(listener_.get());
    if (!made) return;
    auto free = std::ranges::find_if(newcomers_, [](const connection& c) { return !c.socket; });
    if (free == newcomers_.end()) {
      newcomers_.emplace_back();
      free = std::prev(newcomers_.end());
    }
    *free = {std::move(made), {}};
    follow(free->socket.get(), source::newcomer,
           static_cast<std::size_t>(free - newcomers_.begin()));
  }

  void hear_newcomer(std::size_t index) {
    connection& from = newcomers_[index];
    watch_message hello;
    if (!from.reader.read(from.socket.get(), hello)) {
      if (from.reader.now() != message_reader::state::open) from = {};
      return;
    }
    connection arrived = std::exchange(from, {});
    const bool is_rank = hello.token == token_ && hello.rank > 0 &&
                         static_cast<std::size_t>(hello.rank) < peers_.size();
    if (!is_rank) return;
    const auto rank = static_cast<std::size_t>(hello.rank);
    peer& one = peers_[rank];
    const bool has_messages = hello.kind == watch_kind::hello;
    connection& place = has_messages ? one.messages : one.lifeline;
    if (one.is_watched || one.has_left) return;
    place = std::move(arrived);  // in place of one that was welcome too late
    follow(place.socket.get(), has_messages ? source::messages : source::lifeline, rank);
    hello.kind = watch_kind::welcome;
    send_to(place.socket.get(), hello);
    if (!has_messages) return;
    one.last = hello;
    choose_deputy(rank);
  }

  /// The lowest rank on another machine, or else the lowest.
  void choose_deputy(std::size_t rank) {
    const auto order = [&](std::size_t each) {
      return std::pair(peers_[each].last.host == own_->identity().host, each);
    };
    if (deputy_ != 0 && order(deputy_) < order(rank)) return;
    if (deputy_ != 0) tell(deputy_, watch_kind::no_deputy);
    deputy_ = rank;
    tell(rank, watch_kind::deputy);
  }

  void hear(std::size_t rank) {
    peer& one = peers_[rank];
    watch_message said;
    if (!one.messages.reader.read(one.messages.socket.get(), said)) {
      const auto state = one.messages.reader.now();
      if (state == message_reader::state::open) return;
      one.messages = {};
      one.is_unreachable = state == message_reader::state::unreachable;
      suspect(rank);
      return exit_if_all_ended();
    }
    one.last = said;
    if (said.kind == watch_kind::bye) one.has_left = true;
    if (said.kind == watch_kind::state) one.is_watched = true;
    if (said.kind == watch_kind::failed) weigh_error(rank, said.by_mpi != 0);
    if (said.kind != watch_kind::gone) return;
    one.is_gone = true;
    if (phase_ == phase::reported) return tell(rank, watch_kind::end);
    suspect(rank);
  }

  void look_at_lifeline(std::size_t rank) {
    peer& one = peers_[rank];
    watch_message nothing;
    static_cast<void>(one.lifeline.reader.read(one.lifeline.socket.get(), nothing));
    if (one.lifeline.reader.now() == message_reader::state::open) return;
    one.lifeline = {};
    suspect(rank);
  }

  /// A rank seems to have ended. Those that end after it may do so because of it.
  void suspect(std::size_t rank) {
    if (phase_ == phase::reported) return exit_if_all_ended();
    if (rank != 0 && !peers_[rank].is_watched) return;  // its watcher tries again, or gives up
    if (peers_[rank].has_left || std::ranges::find(suspects_, rank) != suspects_.end()) return;
    if (suspects_.empty()) first_suspicion_ = watch_clock::now();
    suspects_.push_back(rank);
    deadline_ = first_suspicion_;
  }

  /// A rank asks whether it may report an error.
  void weigh_error(std::size_t rank, bool by_mpi) {
    if (phase_ == phase::reported) return tell(rank, watch_kind::denied);
    if (askers_.empty()) first_error_ = watch_clock::now();
    askers_.insert(by_mpi ? askers_.end() : askers_.begin() + own_errors_++, rank);
    if (suspects_.empty()) grant_first();
  }

  void grant_first() {
    if (own_errors_ == 0 && watch_clock::now() < first_error_ + may_be_caused) {
      deadline_ = first_error_ + may_be_caused;
      return;
    }
    if (deputy_ != 0) tell(deputy_, watch_kind::no_deputy);  // one line is enough
    for (const std::size_t each : askers_) {
      tell(each, each == askers_.front() ? watch_kind::granted : watch_kind::denied);
    }
    // The rank ends the others by MPI; what remains after a second is ended here.
    phase_ = phase::reported;
    deadline_ = watch_clock::now() + 1s;
  }

  [[nodiscard]] bool has_ended(std::size_t rank) const {
    return rank == 0 ? own_->has_ended() : peers_[rank].is_gone || !peers_[rank].messages.socket;
  }
  [[nodiscard]] watch_message last_of(std::size_t rank) const {
    return rank == 0 ? own_->report(watch_kind::gone) : peers_[rank].last;
  }

  void decide() {
    if (phase_ == phase::reported) end_all();
    deadline_.reset();
    std::optional<std::size_t> aborted;
    for (const std::size_t rank : suspects_) {
      if (peers_[rank].has_left) continue;
      if (!has_ended(rank)) {
        // Its connection is closed, the report of its watcher is on its way; or the process goes
        // on as another program.
        if (watch_clock::now() > first_suspicion_ + 1500ms) continue;
        deadline_ = watch_clock::now() + 5ms;
        return;
      }
      const watch_message last = last_of(rank);
      const bool is_wordless = last.signal == 0 && last.exits == 0;
      if (aborted && !is_wordless) continue;
      if (last.signal != SIGABRT) return report(rank);
      aborted = rank;
    }
    if (aborted) {
      if (watch_clock::now() >= first_suspicion_ + may_be_caused) return report(*aborted);
      deadline_ = first_suspicion_ + may_be_caused;
      return;
    }
    suspects_.clear();
    if (!askers_.empty()) grant_first();
    exit_if_all_ended();
  }

  void report(std::size_t rank) {
    write_watch_line(line_about(last_of(rank), peers_[rank].is_unreachable));
    for (const std::size_t each : askers_) tell(each, watch_kind::denied);
    end_all();
  }

  void tell(std::size_t rank, watch_kind kind) {
    if (rank == 0) return own_->settle_error(kind);
    watch_message one{};
    one.kind = kind;
    if (peers_[rank].messages.socket) send_to(peers_[rank].messages.socket.get(), one);
  }

  /// After rank 0 has left and nothing is in doubt, or the rank that failed has ended the run.
  void exit_if_all_ended() {
    const bool is_reported = phase_ == phase::reported;
    if (!is_reported && (deadline_ || !peers_[0].has_left)) return;
    if (!peers_[0].has_left && !own_->has_ended()) return;
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
      if (peers_[rank].messages.socket) return;
    }
    _exit(0);
  }

  [[noreturn]] void end_all() {
    for (std::size_t rank = 1; rank < peers_.size(); ++rank) tell(rank, watch_kind::end);
    own_->end();
    // Connections that are closed too early would lose what was sent.
    const auto until = watch_clock::now() + 1s;
    for (peer& each : peers_) {
      watch_message ignored;
      while (each.messages.socket && !each.is_unreachable && watch_clock::now() < until) {
        pollfd closed{.fd = each.messages.socket.get(), .events = POLLIN, .revents = 0};
        poll(&closed, 1, 50);
        static_cast<void>(each.messages.reader.read(each.messages.socket.get(), ignored));
        if (each.messages.reader.now() != message_reader::state::open) break;
      }
    }
    _exit(0);
  }

  watched_rank* own_;
  std::array<std::uint8_t, 16> token_;
  std::vector<peer> peers_;  ///< by rank; 0 is this watcher's own
  descriptor epoll_, listener_;
  std::vector<connection> newcomers_;
  std::vector<std::size_t> suspects_;  ///< in the order of their ends
  std::vector<std::size_t> askers_;    ///< ranks with an error, those with one of MPI last
  std::ptrdiff_t own_errors_ = 0;      ///< of `askers_`: not of MPI
  watch_clock::time_point first_suspicion_{}, first_error_{};
  std::optional<watch_clock::time_point> deadline_;
  std::size_t deputy_ = 0;
  phase phase_ = phase::watching;
};

}  // namespace

void serve_ranks(watched_rank& own, const watch_request& asked) {
  rank_server(own, asked).run();
}

}  // namespace creek::mpi_backend
