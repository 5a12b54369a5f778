// SPDX-License-Identifier: Apache-2.0
#include "watcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <creek/core/error.hpp>

namespace creek::mpi_backend {
namespace {

constinit activity unwatched;
constinit pid_t watched_process = 0;  ///< a process that a rank forks shares its record

/// A signal that ends a rank, and what was done at it before.
struct noted_signal {
  int number;
  struct sigaction before {};
};
constinit std::array<noted_signal, 3> noted_signals{{{SIGTERM}, {SIGINT}, {SIGABRT}}};

/// Leaves a note for the watcher, and then does what was done before.
void note_signal(int signal) {
  if (getpid() == watched_process) {
    if (own_activity->is_over.load(std::memory_order_relaxed)) _exit(1);
    own_activity->signal.store(signal, std::memory_order_relaxed);
  }
  for (const noted_signal& each : noted_signals) {
    if (each.number == signal) sigaction(signal, &each.before, nullptr);
  }
  raise(signal);
}

[[nodiscard]] bool is_default(const struct sigaction& one) noexcept {
  return (one.sa_flags & SA_SIGINFO) == 0 && one.sa_handler == SIG_DFL;
}

void note(noted_signal& one) noexcept {
  struct sigaction ours {};
  ours.sa_handler = &note_signal;
  sigaction(one.number, &ours, &one.before);
}

/// A handler of the program may go on after these.
void note_interruptions() noexcept {
  for (noted_signal& each : noted_signals) {
    sigaction(each.number, nullptr, &each.before);
    if (each.number != SIGABRT && is_default(each.before)) note(each);
  }
}

/// After MPI has put its own handler in place, which writes the stack.
void note_aborts() noexcept {
  note(noted_signals.back());
}

void note_no_signal() noexcept {
  for (const noted_signal& each : noted_signals) {
    struct sigaction now {};
    sigaction(each.number, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == &note_signal) {
      sigaction(each.number, &each.before, nullptr);
    }
  }
}

}  // namespace

activity* own_activity = &unwatched;

watch_setting watch_from_environment() {
  const char* const given = std::getenv("CREEK_MPI_WATCH");
  const std::string_view text = given == nullptr ? "" : given;
  if (text.empty() || text == "1") return watch_setting::on;
  if (text == "0") return watch_setting::off;
  if (text == "verbose") return watch_setting::verbose;
  throw usage_error(fmt::format("CREEK_MPI_WATCH={}: valid are 0, 1 and verbose", text));
}

watch::watch(watch_setting setting) : setting_(setting) {
  if (setting == watch_setting::off) return;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  descriptor mine(ends[0]), theirs(ends[1]);
  void* const memory =
      mmap(nullptr, sizeof(activity), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  auto* const record = new (memory) activity;
  const pid_t pid = getpid();
  descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    // The watcher is no child of the rank, which may wait for all of its children.
    if (fork() != 0) _exit(0);
    mine.reset();
    run_watcher(std::move(theirs), std::move(process), pid, *record);
  }
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    control_ = std::move(mine);
  }
  shared_ = record;
  own_activity = record;
  watched_process = pid;
  static const bool at_exit = [] {
    return std::atexit([] {
             if (getpid() != watched_process) return;
             own_activity->exits.store(true, std::memory_order_relaxed);
           }) == 0;
  }();
  static_cast<void>(at_exit);
  note_interruptions();
}

void watch::join(int rank, int ranks, const std::string& host, broadcast from_rank_0) {
  rank_ = rank;
  watch_request asked{}, answer{};
  asked.message.rank = rank;
  const std::size_t length = std::min(host.size(), asked.message.host.size() - 1);
  std::memcpy(asked.message.host.data(), host.data(), length);
  if (rank == 0 && ranks > 1 && control_) {
    asked.message.kind = watch_kind::serve;
    asked.message.signal = ranks;
    asked.invitation.host = asked.message.host;
    store_addresses(asked.invitation);
    auto& token = asked.invitation.token;
    const bool is_random =
        getrandom(token.data(), token.size(), 0) == static_cast<ssize_t>(token.size());
    if (is_random) send_to(control_.get(), asked);
    if (is_random && receive(answer, nullptr)) asked.invitation.port = answer.invitation.port;
  }
  if (ranks > 1) from_rank_0(&asked.invitation, sizeof asked.invitation);
  bool is_watched = asked.invitation.port != 0 && control_;
  if (is_watched && rank != 0) {
    asked.message.kind = watch_kind::join;
    asked.message.token = asked.invitation.token;
    send_to(control_.get(), asked);
    int passed = -1;
    is_watched = receive(answer, &passed) && answer.message.kind == watch_kind::joined;
    lifeline_ = descriptor(passed);
  }
  if (is_watched) return note_aborts();
  if (setting_ == watch_setting::verbose && ranks > 1) {
    write_watch_line(fmt::format(
        "creek: rank {} on {}: not watched: no connection to rank 0 for it\n", rank, host));
  }
  leave();
}

bool watch::report(const std::string& line, bool by_mpi) noexcept {
  watch_request asked{}, answer{};
  if (control_) {
    asked.message.kind = watch_kind::failed;
    asked.message.rank = rank_;
    asked.message.by_mpi = by_mpi ? 1 : 0;
    const std::size_t length = line.copy(asked.line.data(), asked.line.size() - 1);
    if (length < line.size()) asked.line[length - 1] = '\n';
    send_to(control_.get(), asked);
    if (receive(answer, nullptr)) return answer.message.kind == watch_kind::granted;
  }
  write_watch_line(line);
  return true;
}

void watch::leave() noexcept {
  if (control_) {
    watch_request asked{}, ignored{};
    asked.message.kind = watch_kind::bye;
    asked.message.rank = rank_;
    send_to(control_.get(), asked);
    while (receive(ignored, nullptr)) {
    }
  }
  control_.reset();
  lifeline_.reset();
  if (shared_ == nullptr) return;
  note_no_signal();
  own_activity = &unwatched;
  munmap(std::exchange(shared_, nullptr), sizeof(activity));
}

/// The watcher answers, or has ended. Waits for at most six seconds, which is longer than watchers
/// need to notice that a machine does not answer.
bool watch::receive(watch_request& answer, int* passed_socket) noexcept {
  const timeval patience{.tv_sec = 6, .tv_usec = 0};
  setsockopt(control_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  iovec data{&answer, sizeof answer};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  ssize_t got;
  do {
    got = recvmsg(control_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof answer)) return false;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && passed_socket != nullptr) {
    std::memcpy(passed_socket, CMSG_DATA(header), sizeof *passed_socket);
  }
  return true;
}

}  // namespace creek::mpi_backend
