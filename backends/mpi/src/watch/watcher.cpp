// SPDX-License-Identifier: Apache-2.0
#include "watcher.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace creek::mpi_backend {
namespace {

/// Closes what the rank has open, but for its connections to the launcher. MPICH's notices the end
/// of a rank when they are closed, and then kills the others: not before the line is written.
void close_others(int keep, int keep_too) noexcept {
  const char* const launcher = std::getenv("PMI_FD");
  std::array<int, 4> kept{STDERR_FILENO, keep, keep_too,
                          launcher == nullptr ? -1 : std::atoi(launcher)};
  std::ranges::sort(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] < STDERR_FILENO) continue;
    const unsigned first = static_cast<unsigned>(kept[i]) + 1;
    const unsigned last = i + 1 < kept.size() ? static_cast<unsigned>(kept[i + 1]) - 1 : ~0u;
    if (first > last || syscall(SYS_close_range, first, last, 0u) == 0) continue;
    constexpr unsigned usual_limit = 1024;  // a kernel without close_range
    for (unsigned fd = first; fd <= std::min(last, usual_limit); ++fd) close(static_cast<int>(fd));
  }
}

/// No signal of a terminal or a launcher ends a watcher: it ends after its rank.
void leave_the_group_of_the_rank() noexcept {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  static_cast<void>(!chdir("/"));
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

const char* verb_of(operation what) noexcept {
  switch (what) {
    case operation::none:
      return "";
    case operation::send:
      return "sending to rank ";
    case operation::receive:
      return "receiving from rank ";
    case operation::post:
      return "posting to rank ";
    case operation::take:
      return "taking from rank ";
    case operation::barrier:
      return "in a barrier";
    case operation::broadcast:
      return "in a broadcast from rank ";
    case operation::serve:
      return "serving calls";
  }
  return "";
}

std::string doing(const watch_message& last) {
  const std::string_view stage(last.stage.data(), strnlen(last.stage.data(), last.stage.size()));
  std::string text(stage);
  const auto what = static_cast<operation>(last.operation >> 33);
  if (what != operation::none) {
    if (!text.empty()) text += ", ";
    text += verb_of(what);
    const bool in_part = (last.operation >> 32 & 1) != 0;
    if (what != operation::barrier && what != operation::serve)
      text += std::to_string(static_cast<std::uint32_t>(last.operation));
    if (in_part) text += " of a part";
  }
  return text.empty() ? text : fmt::format(" (last seen {})", text);
}

}  // namespace

bool watched_rank::receive(watch_request& one) noexcept {
  const ssize_t got = recv(control_.get(), &one, sizeof one, MSG_DONTWAIT);
  if (got != static_cast<ssize_t>(sizeof one)) return false;
  if (one.message.kind == watch_kind::failed) line_ = one.line;
  return true;
}

void watched_rank::answer(watch_kind kind, int passed_socket) const noexcept {
  watch_request one{};
  one.message.kind = kind;
  send_to(control_.get(), one, passed_socket);
}

void watched_rank::settle_error(watch_kind kind) const noexcept {
  if (kind == watch_kind::granted) write_watch_line(line_.data());
  answer(kind);
}

bool watched_rank::has_ended(int wait_milliseconds) const noexcept {
  if (!process_) {  // a system without pidfd_open: by its number, which may be given anew
    for (int waited = 0; kill(pid_, 0) == 0; ++waited) {
      if (waited >= wait_milliseconds) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  pollfd one{.fd = process_.get(), .events = POLLIN, .revents = 0};
  return poll(&one, 1, wait_milliseconds) == 1;
}

void watched_rank::signal(int number) const noexcept {
  if (process_) {
    syscall(SYS_pidfd_send_signal, process_.get(), number, nullptr, 0u);
  } else {
    kill(pid_, number);
  }
}

void watched_rank::end() noexcept {
  if (has_ended()) return;
  record_->is_over.store(true, std::memory_order_relaxed);
  signal(SIGTERM);
  if (!has_ended(500)) signal(SIGKILL);
}

watch_message watched_rank::report(watch_kind kind) const noexcept {
  watch_message made = identity_;
  made.kind = kind;
  made.signal = record_->signal.load(std::memory_order_relaxed);
  made.exits = record_->exits.load(std::memory_order_relaxed) ? 1 : 0;
  made.operation = record_->current.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < made.stage.size(); ++i) {
    made.stage[i] = record_->stage[i].load(std::memory_order_relaxed);
  }
  return made;
}

void write_watch_line(const std::string& line) noexcept {
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

std::string line_about(const watch_message& last, bool is_unreachable) {
  const std::string how = is_unreachable           ? "is unreachable"
                          : last.signal == SIGINT  ? "was ended by SIGINT"
                          : last.signal == SIGABRT ? "called abort()"
                          : last.signal != 0       ? "was ended by SIGTERM"
                          : last.exits != 0        ? "called exit() or returned from main()"
                                                   : "ended without a word";
  return fmt::format("creek: rank {} on {} {}{}: the run ends\n", last.rank, last.host.data(), how,
                     doing(last));
}

void run_watcher(descriptor control, descriptor rank_process, pid_t pid, activity& record) {
  close_others(control.get(), rank_process.get());
  leave_the_group_of_the_rank();
  watched_rank own(std::move(control), std::move(rank_process), pid, record);
  // The rank says what to do, or ends before it has joined a run.
  pollfd one{.fd = own.control(), .events = POLLIN, .revents = 0};
  while (poll(&one, 1, -1) < 0 && errno == EINTR) {
  }
  watch_request asked{};
  if (!own.receive(asked)) _exit(0);
  own.set_identity(asked.message);
  prctl(PR_SET_NAME, fmt::format("creek-watch {}", asked.message.rank).c_str());  // for ps
  if (asked.message.kind == watch_kind::serve) serve_ranks(own, asked);
  if (asked.message.kind == watch_kind::join) follow_rank_0(own, asked);
  _exit(0);
}

}  // namespace creek::mpi_backend
