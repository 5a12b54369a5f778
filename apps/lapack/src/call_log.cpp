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
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_energy.hpp"

namespace creek::lapack {

constinit std::atomic<bool> notes_calls{false};

namespace {

/// The routines that were called, linked.
constinit std::atomic<routine_calls*> called{nullptr};
/// The innermost call of the thread.
constinit thread_local noted_call* innermost = nullptr;
/// CREEK_LAPACK_VERBOSE when the library was loaded: a file, by its whole path, or "1" for standard
/// error.
constinit char destination[4096] = "";

std::int64_t now() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

/// In a child of fork(): the parent reports its own calls.
void forget_calls() {
  for (routine_calls* each = called.load(); each != nullptr; each = each->next) {
    each->calls = each->on_workers = each->nanoseconds = each->measured = 0;
    each->operations = each->joules = 0;
  }
  forget_energy();
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

/// The numbers of a routine at one time: other threads may go on calling.
struct routine_total {
  const char* name;
  std::uint64_t calls, on_workers, measured;
  double seconds, operations, joules;

  explicit routine_total(const routine_calls& of)
      : name(of.name),
        calls(of.calls.load()),
        on_workers(of.on_workers.load()),
        measured(of.measured.load()),
        seconds(1e-9 * static_cast<double>(of.nanoseconds.load())),
        operations(of.operations.load()),
        joules(of.joules.load()) {}
  std::string line() const {
    const double rate = seconds > 0 ? 1e-9 * operations / seconds : 0;
    return fmt::format("  {:<20} {:>10} {:>12} {:>10.3f} {:>10.2f}{}\n", name, calls, on_workers,
                       seconds, rate, energy());
  }
  /// Returns the mean energy of a call, empty without a meter.
  std::string energy() const {
    if (!has_energy()) return "";
    if (measured == 0) return fmt::format(" {:>10}", "-");
    return fmt::format(" {:>10.3g}", joules / static_cast<double>(measured));
  }
};

std::string report() {
  std::vector<routine_total> all;
  std::uint64_t calls = 0;
  for (const routine_calls* each = called.load(); each != nullptr; each = each->next) {
    const routine_total total(*each);
    if (total.calls == 0) continue;
    all.push_back(total);
    calls += total.calls;
  }
  std::string text = process_name() + ": ";
  if (all.empty()) {
    const std::vector<std::string> others = other_libraries();
    if (others.empty()) return text + "no calls, and no other library of LAPACK or the BLAS\n";
    return text + fmt::format("no calls, but there is {}\n", fmt::join(others, ", "));
  }
  std::ranges::sort(all, std::greater(), &routine_total::seconds);
  text += fmt::format("{} calls of {} routines\n  {:<20} {:>10} {:>12} {:>10} {:>10}{}\n", calls,
                      all.size(), "routine", "calls", "on workers", "seconds", "GFLOP/s",
                      has_energy() ? fmt::format(" {:>10}", "J/call") : "");
  for (const routine_total& each : all) text += each.line();
  return text + energy_line();
}

bool reports_to_file() noexcept {
  return std::string_view(destination) != "1";
}

/// Writes all of it at once: several processes may write to a file. Its folder may be gone at the
/// end.
void write_report(const std::string& text, bool is_last) {
  const int file = reports_to_file()
                       ? open(destination, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)
                       : STDERR_FILENO;
  const bool failed = file < 0 || write(file, text.data(), text.size()) < 0;
  if (failed && !(is_last && errno == ENOENT)) {
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
  const char* const wanted = secure_getenv("CREEK_LAPACK_VERBOSE");  // null for special rights
  if (wanted == nullptr || *wanted == '\0' || std::string_view(wanted) == "0") return;
  attempt([&] {
    // The program may change its environment and its working directory.
    const bool is_file = std::string_view(wanted) != "1";
    const std::string place = is_file ? std::filesystem::absolute(wanted).string() : wanted;
    if (place.size() >= sizeof destination) throw std::length_error("CREEK_LAPACK_VERBOSE");
    place.copy(destination, place.size());
  });
  if (*destination == '\0') return;
  attempt([] { open_meter(); });
  notes_calls = true;
  pthread_atfork(nullptr, nullptr, &forget_calls);
  // A process that is killed, or ends by _exit(), writes nothing more.
  if (reports_to_file()) attempt([] { write_report(process_name() + ": loaded\n", false); });
}

[[gnu::destructor]] void end() {
  if (notes_calls.exchange(false)) attempt([] { write_report(report(), true); });
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
  if (const double joules = is_measured_ ? end_energy() : std::nan(""); !std::isnan(joules)) {
    to.joules.fetch_add(joules, std::memory_order_relaxed);
    to.measured.fetch_add(1, std::memory_order_relaxed);
  }
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
  if (on_workers && !here->is_measured_) here->is_measured_ = begin_energy();
}

}  // namespace creek::lapack
