// SPDX-License-Identifier: Apache-2.0
#include "call_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::lapack {

constinit std::atomic<bool> notes_calls{false};

namespace {

/// The routines that were called, linked.
constinit std::atomic<routine_calls*> called{nullptr};
/// The innermost call of the thread.
constinit thread_local noted_call* innermost = nullptr;
/// The value of CREEK_LAPACK_VERBOSE: a file, or "1" for standard error.
constinit const char* destination = nullptr;

std::int64_t now() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

/// In a child of fork(): the parent reports its own calls.
void forget_calls() {
  for (routine_calls* each = called.load(); each != nullptr; each = each->next) {
    each->calls = each->on_workers = each->nanoseconds = 0;
    each->operations = 0;
  }
}

/// Returns the files of other libraries in this process that have routines of LAPACK or the BLAS,
/// by their names.
std::vector<std::string> other_libraries() {
  std::vector<std::string> found;
  const auto add = [](dl_phdr_info* library, std::size_t, void* to) {
    const std::string_view file(library->dlpi_name);
    const std::string_view name = file.substr(file.rfind('/') + 1);
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (!has("creek_lapack") &&
        (has("blas") || has("lapack") || has("mkl_rt") || has("libblis") || has("libflame"))) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(file);
    }
    return 0;
  };
  dl_iterate_phdr(add, &found);
  return found;
}

/// Returns the beginning of a line about this process.
std::string process_name() {
  std::error_code failed;
  const auto file = std::filesystem::read_symlink("/proc/self/exe", failed);
  return fmt::format("creek lapack: {} (process {})",
                     failed ? "a program" : file.filename().string(), getpid());
}

std::string line_of(const routine_calls& routine) {
  const double seconds = 1e-9 * static_cast<double>(routine.nanoseconds.load());
  const double rate = seconds > 0 ? 1e-9 * routine.operations.load() / seconds : 0;
  return fmt::format("  {:<20} {:>10} {:>12} {:>10.3f} {:>10.2f}\n", routine.name,
                     routine.calls.load(), routine.on_workers.load(), seconds, rate);
}

std::string report() {
  std::vector<const routine_calls*> all;
  std::uint64_t calls = 0;
  for (const routine_calls* each = called.load(); each != nullptr; each = each->next) {
    if (each->calls == 0) continue;
    all.push_back(each);
    calls += each->calls;
  }
  std::string text = process_name() + ": ";
  if (all.empty()) {
    const std::vector<std::string> others = other_libraries();
    if (others.empty()) return text + "no calls, and no other library of LAPACK or the BLAS\n";
    return text + fmt::format("no calls, but there is {}\n", fmt::join(others, ", "));
  }
  std::ranges::sort(all, {}, [](const routine_calls* each) { return -each->nanoseconds.load(); });
  text += fmt::format("{} calls of {} routines\n  {:<20} {:>10} {:>12} {:>10} {:>10}\n", calls,
                      all.size(), "routine", "calls", "on workers", "seconds", "GFLOP/s");
  for (const routine_calls* each : all) text += line_of(*each);
  return text;
}

bool reports_to_file() noexcept {
  return std::string_view(destination) != "1";
}

/// Writes all of it at once: several processes may write to a file.
void write_report(const std::string& text) {
  const int file = reports_to_file()
                       ? open(destination, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)
                       : STDERR_FILENO;
  if (file < 0 || write(file, text.data(), text.size()) < 0) {
    fmt::print(stderr, "creek lapack: {}: {}\n", destination, std::strerror(errno));
  }
  if (reports_to_file() && file >= 0) close(file);
}

/// No exception may leave the two functions that the loader calls.
template <class F>
void attempt(F f) noexcept {
  try {
    f();
  } catch (const std::exception& failure) {
    fmt::print(stderr, "creek lapack: {}\n", failure.what());
  }
}

[[gnu::constructor]] void begin() {
  destination = std::getenv("CREEK_LAPACK_VERBOSE");
  if (destination == nullptr || *destination == '\0' || std::string_view(destination) == "0")
    return;
  notes_calls = true;
  pthread_atfork(nullptr, nullptr, &forget_calls);
  // A process that is killed, or ends by _exit(), writes nothing more.
  if (reports_to_file()) attempt([] { write_report(process_name() + ": loaded\n"); });
}

[[gnu::destructor]] void end() {
  if (notes_calls.exchange(false)) attempt([] { write_report(report()); });
}

}  // namespace

void noted_call::begin(routine_calls& routine) noexcept {
  routine_ = &routine;
  outer_ = std::exchange(innermost, this);
  began_ = now();
}

void noted_call::end() noexcept {
  innermost = outer_;
  routine_calls& to = *routine_;
  to.nanoseconds.fetch_add(static_cast<std::uint64_t>(now() - began_), std::memory_order_relaxed);
  to.operations.fetch_add(operations_, std::memory_order_relaxed);
  to.calls.fetch_add(1, std::memory_order_relaxed);
  if (on_workers_) to.on_workers.fetch_add(1, std::memory_order_relaxed);
  if (to.is_listed.exchange(true)) return;
  to.next = called.load();
  while (!called.compare_exchange_weak(to.next, &to)) {
  }
}

void note_work(double operations, bool on_workers) noexcept {
  noted_call* const here = innermost;
  if (here == nullptr) return;
  here->operations_ += operations;
  here->on_workers_ |= on_workers;
}

}  // namespace creek::lapack
