// SPDX-License-Identifier: Apache-2.0
// Profiles as text and as JSON, and the variable that asks for one.
#include <creek/core/measuring/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>

#include "json_text.hpp"

namespace creek {

namespace {

using std::chrono::nanoseconds;

constexpr const char* variable = "CREEK_PROFILE";
/// Columns for a name; the schema's file has names in full.
constexpr std::size_t name_columns = 60;

profile::worker& operator+=(profile::worker& sum, const profile::worker& added) {
  sum.running += added.running;
  sum.searching += added.searching;
  sum.sleeping += added.sleeping;
  sum.waiting += added.waiting;
  return sum;
}

profile::worker sum_of(std::span<const profile::worker> workers) {
  profile::worker sum;
  for (const profile::worker& each : workers) sum += each;
  return sum;
}

nanoseconds all_of(const profile::worker& of) {
  return of.running + of.searching + of.sleeping + of.waiting;
}

std::string percent(nanoseconds part, nanoseconds whole) {
  const auto share = whole.count() == 0 ? 0.0 : double(part.count()) / double(whole.count());
  return fmt::format("{:.1f} %", 100 * share);
}

/// Returns three digits or more, and a unit.
std::string span_of(nanoseconds time) {
  const auto count = double(time.count());
  if (count < 1e3) return fmt::format("{} ns", time.count());
  const auto [unit, name] = count < 1e6   ? std::pair(1e3, "us")
                            : count < 1e9 ? std::pair(1e6, "ms")
                                          : std::pair(1e9, "s");
  const double value = count / unit;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, name);
}

/// Returns the name in one line of at most name_columns bytes: the ends say the most.
std::string shortened(std::string name) {
  for (const std::string_view dropped :
       {"creek::detail::", "{anonymous}::", "(anonymous namespace)::"}) {
    for (auto at = name.find(dropped); at != name.npos; at = name.find(dropped, at)) {
      name.erase(at, dropped.size());
    }
  }
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (name.size() <= name_columns) return name;
  const std::size_t begin = name_columns / 2, end = name_columns - begin - 3;
  return name.substr(0, begin) + "..." + name.substr(name.size() - end);
}

void add_task_row(std::string& table, const profile::task& task, nanoseconds whole,
                  std::string_view name) {
  const auto count = static_cast<nanoseconds::rep>(std::max<std::uint64_t>(task.count, 1));
  table += fmt::format("{:>10} {:>8} {:>10} {:>10} {:>10} {:>10}  {}\n", span_of(task.total),
                       percent(task.total, whole), task.count, span_of(task.total / count),
                       span_of(task.longest), span_of(task.waited), name);
}

void add_worker_row(std::string& table, std::string_view name, const profile::worker& worker) {
  const nanoseconds whole = all_of(worker);
  table += fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10}\n", name, percent(worker.running, whole),
                       percent(worker.searching, whole), percent(worker.sleeping, whole),
                       percent(worker.waiting, whole));
}

std::string json_of(const profile::worker& worker) {
  return fmt::format(R"({{"running_ns":{},"searching_ns":{},"sleeping_ns":{},"waiting_ns":{}}})",
                     worker.running.count(), worker.searching.count(), worker.sleeping.count(),
                     worker.waiting.count());
}

std::string json_of(const profile::task& task) {
  return fmt::format(R"({{"name":{},"count":{},"total_ns":{},"longest_ns":{},"waited_ns":{}}})",
                     detail::json_string(task.name), task.count, task.total.count(),
                     task.longest.count(), task.waited.count());
}

}  // namespace

std::string to_string(const profile& times, std::size_t most) {
  const nanoseconds whole = all_of(sum_of(times.workers));
  std::string table = fmt::format(
      "creek: profile of {} {} on {}, {} of wall time ({})\n"
      "{:>10} {:>8} {:>10} {:>10} {:>10} {:>10}  task, with what ran within it\n",
      times.workers.size(), times.workers.size() == 1 ? "worker" : "workers", times.backend,
      span_of(times.duration), variable, "time", "share", "count", "mean", "longest", "suspended");
  const std::size_t shown = std::min(most, times.tasks.size());
  for (const profile::task& each : std::span(times.tasks).first(shown)) {
    add_task_row(table, each, whole, shortened(each.name));
  }
  if (shown < times.tasks.size()) {
    profile::task rest;
    for (const profile::task& each : std::span(times.tasks).subspan(shown)) {
      rest.count += each.count;
      rest.total += each.total;
      rest.longest = std::max(rest.longest, each.longest);
      rest.waited += each.waited;
    }
    add_task_row(table, rest, whole, fmt::format("{} other names", times.tasks.size() - shown));
  }
  table += fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10}\n", "worker", "running", "searching",
                       "sleeping", "waiting");
  const std::size_t rows = std::min(most, times.workers.size());
  for (std::size_t i = 0; i < rows; ++i) add_worker_row(table, std::to_string(i), times.workers[i]);
  if (rows < times.workers.size()) {
    add_worker_row(table, "others", sum_of(std::span(times.workers).subspan(rows)));
  }
  add_worker_row(table, "all", sum_of(times.workers));
  return table;
}

std::string to_json(const profile& times) {
  std::string document =
      fmt::format(R"({{"schema_version":1,"command":"{}","backend":{},"duration_ns":{},"tasks":[)",
                  variable, detail::json_string(times.backend), times.duration.count());
  for (const profile::task& each : times.tasks) {
    document += (&each == times.tasks.data() ? "\n" : ",\n") + json_of(each);
  }
  document += "],\"workers\":[";
  for (const profile::worker& each : times.workers) {
    document += (&each == times.workers.data() ? "\n" : ",\n") + json_of(each);
  }
  return document + "]}\n";
}

std::optional<profile_output> profile_output::from_environment() {
  const char* const value = std::getenv(variable);
  const std::string_view text = value != nullptr ? value : "";
  if (text.empty() || text == "0") return std::nullopt;
  if (text == "1") return profile_output(nullptr);
  constexpr std::string_view ending = ".json";
  if (!text.ends_with(ending) || text.size() == ending.size()) {
    throw usage_error(
        fmt::format("{}='{}': give 0, 1 for a table, or the name of a file that ends in .json",
                    variable, text));
  }
  return profile_output(std::make_unique<atomic_file>(text));
}

profile_output::profile_output(std::unique_ptr<atomic_file> file) noexcept
    : file_(std::move(file)) {}
profile_output::profile_output(profile_output&&) noexcept = default;
profile_output::~profile_output() = default;

void profile_output::write(const profile& times) {
  if (!file_) {
    std::fputs(to_string(times).c_str(), stderr);
    return;
  }
  file_->write(to_json(times));
  file_->commit();
}

void warn_of_no_profile(const char* backend) {
  if (!profile_output::from_environment()) return;
  std::fprintf(stderr, "creek: %s: only the host backend has a profile; this runtime is on %s\n",
               variable, backend);
}

}  // namespace creek
