// SPDX-License-Identifier: Apache-2.0
// Reports of waits, when a program or SIGQUIT asks for them. The handler of the signal only wakes a
// thread, which may take locks and allocate; it writes although every worker may be blocked.
#include <creek/tasking/ext/quit_report.hpp>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/tasking/ext/backend.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

namespace ext {

namespace {

/// Lines of one report.
constexpr std::size_t max_lines = 1000;

void write_all(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

/// All listed objects of the process.
struct quit_reports {
  std::mutex
      changing;  ///< held to list an object or to take it off, and to start and end the thread
  std::mutex listing;  ///< guards the list; held while the reports are written
  quit_report* first = nullptr;
  pthread_t thread{};
  struct sigaction before {};
  std::atomic<std::uint32_t> requests{0};  ///< raised to wake the thread
  std::uint32_t answered = 0;              ///< requests before the thread was started
  std::atomic<bool> ends{false};

  void add(quit_report& added);
  void remove(quit_report& gone) noexcept;
  void start();
  void write() noexcept;
  void install() noexcept;
  void restore() noexcept;
  static void* run(void* self) noexcept;
  static void on_signal(int signal, siginfo_t* info, void* context) noexcept;
  static void begin_child() noexcept;
};

namespace {

quit_reports& all() noexcept {
  // Never destroyed: the handler may be called while static objects go.
  alignas(quit_reports) static std::byte storage[sizeof(quit_reports)];
  static quit_reports* const made = [] {
    auto* const reports = ::new (static_cast<void*>(storage)) quit_reports;
    pthread_atfork(nullptr, nullptr, &quit_reports::begin_child);
    return reports;
  }();
  return *made;
}

}  // namespace

void quit_reports::add(quit_report& added) {
  const std::lock_guard change(changing);
  if (first == nullptr) {
    start();
    install();
  }
  const std::lock_guard list(listing);
  added.next_ = first;
  first = &added;
}

void quit_reports::remove(quit_report& gone) noexcept {
  const std::lock_guard change(changing);
  {
    const std::lock_guard list(listing);
    quit_report** at = &first;
    while (*at != &gone) at = &(*at)->next_;
    *at = gone.next_;
    if (first != nullptr) return;
  }
  restore();
  ends.store(true, std::memory_order_relaxed);
  requests.fetch_add(1, std::memory_order_release);
  futex_wake(requests, 1);
  pthread_join(thread, nullptr);
}

/// Starts the thread, which leaves all signals to others.
void quit_reports::start() {
  sigset_t none, before_start;
  sigfillset(&none);
  ends.store(false, std::memory_order_relaxed);
  answered = requests.load(std::memory_order_relaxed);
  pthread_sigmask(SIG_SETMASK, &none, &before_start);
  const int reason = pthread_create(&thread, nullptr, &run, this);
  pthread_sigmask(SIG_SETMASK, &before_start, nullptr);
  if (reason != 0) throw error(reason, "cannot start the thread that reports waits at SIGQUIT");
}

void* quit_reports::run(void* self) noexcept {
  auto& reports = *static_cast<quit_reports*>(self);
  pthread_setname_np(pthread_self(), "creek/quit");
  for (std::uint32_t seen = reports.answered;;) {
    futex_wait(reports.requests, seen);
    const std::uint32_t now = reports.requests.load(std::memory_order_acquire);
    if (now == seen) continue;
    seen = now;
    if (reports.ends.load(std::memory_order_relaxed)) return nullptr;
    reports.write();
  }
}

void quit_reports::write() noexcept {
  const std::lock_guard list(listing);
  for (const quit_report* each = first; each != nullptr; each = each->next_) {
    try {
      write_all(report_of(each->runtime_));
    } catch (const std::bad_alloc&) {  // the program has worse problems
    }
  }
}

// --- The handler --------------------------------------------------------------------------------

namespace {
thread_local constinit bool is_in_handler __attribute__((tls_model("initial-exec"))) = false;
}

/// Only async-signal-safe calls. Calls the earlier handler, too, if it is a function; that one may
/// have been installed over this one before, and call it.
void quit_reports::on_signal(int signal, siginfo_t* info, void* context) noexcept {
  if (std::exchange(is_in_handler, true)) return;
  const int kept = errno;
  quit_reports& reports = all();
  reports.requests.fetch_add(1, std::memory_order_release);
  futex_wake(reports.requests, 1);
  const struct sigaction& next = reports.before;
  if ((next.sa_flags & SA_SIGINFO) != 0) {
    if (next.sa_sigaction != nullptr) next.sa_sigaction(signal, info, context);
  } else if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) {
    next.sa_handler(signal);
  }
  errno = kept;
  is_in_handler = false;
}

void quit_reports::install() noexcept {
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGQUIT, nullptr, &before);  // first: the handler reads it
  sigaction(SIGQUIT, &action, nullptr);
}

/// Leaves a handler alone that was installed later: it may call this one.
void quit_reports::restore() noexcept {
  struct sigaction now {};
  sigaction(SIGQUIT, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != &on_signal) return;
  sigaction(SIGQUIT, &before, nullptr);
}

/// The thread and the listed runtimes are the parent's.
void quit_reports::begin_child() noexcept {
  quit_reports& here = all();
  ::new (&here.changing) std::mutex;
  ::new (&here.listing) std::mutex;
  here.first = nullptr;
  here.restore();
}

quit_report::quit_report(const backend& runtime, bool wanted)
    : runtime_(runtime), is_listed_(wanted) {
  if (is_listed_) all().add(*this);
}

quit_report::~quit_report() {
  if (is_listed_) all().remove(*this);
}

std::string report_of(const backend& runtime) {
  const std::vector<waiting_task> tasks = runtime.waiting();
  char head[160];
  std::snprintf(head, sizeof head, "creek: runtime '%s' (%s, %u workers): %zu tasks wait%s\n",
                runtime.options().name.c_str(), runtime.traits().backend_name,
                runtime.traits().worker_count, tasks.size(), tasks.empty() ? "" : ":");
  std::string text = to_string(tasks, max_lines);
  text.insert(0, head);
  return text;
}

}  // namespace ext

void runtime::dump(std::FILE* to) const {
  require_usable();
  std::fputs(ext::report_of(*backend_).c_str(), to);
}

}  // namespace creek
