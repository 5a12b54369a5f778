// SPDX-License-Identifier: Apache-2.0
// Profiles as text and as JSON, and the variable that asks for one. Written with printf(), because
// this is a part of every program that uses the host backend, and so takes the least room.
#include <creek/core/decimal.hpp>
#include <creek/core/measuring/profile.hpp>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdlib>
#include <string>
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

void add(profile::worker& sum, const profile::worker& added) noexcept {
  sum.running += added.running;
  sum.searching += added.searching;
  sum.sleeping += added.sleeping;
  sum.waiting += added.waiting;
}

profile::worker sum_of(std::span<const profile::worker> workers) noexcept {
  profile::worker sum;
  for (const profile::worker& each : workers) add(sum, each);
  return sum;
}

nanoseconds all_of(const profile::worker& of) noexcept {
  return of.running + of.searching + of.sleeping + of.waiting;
}

double percent(nanoseconds part, nanoseconds whole) noexcept {
  return whole.count() == 0 ? 0.0 : 100 * double(part.count()) / double(whole.count());
}

struct short_text {
  char text[32];
};

/// Returns three digits or more, and a unit.
short_text span_of(nanoseconds time) noexcept {
  static constexpr const char* units[] = {"ns", "us", "ms", "s"};
  double value = double(time.count());
  int unit = 0;
  for (; value >= 1e3 && unit < 3; ++unit) value /= 1e3;
  const int decimals = unit == 0 || value >= 100 ? 0 : value < 10 ? 2 : 1;
  short_text made;
  std::snprintf(made.text, sizeof made.text, "%.*f %s", decimals, value, units[unit]);
  return made;
}

/// Returns the name in one line of at most name_columns bytes: the ends say the most.
std::string shortened(std::string name) {
  for (const char* dropped : {"creek::detail::", "{anonymous}::", "(anonymous namespace)::"}) {
    for (auto at = name.find(dropped); at != name.npos; at = name.find(dropped, at)) {
      name.erase(at, std::string_view(dropped).size());
    }
  }
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (name.size() > name_columns) {
    constexpr std::size_t begin = name_columns / 2, end = name_columns - begin - 3;
    name.replace(begin, name.size() - begin - end, "...");
  }
  return name;
}

void print_task(std::FILE* to, const profile::task& task, nanoseconds whole, const char* name) {
  const auto count = static_cast<nanoseconds::rep>(std::max<std::uint64_t>(task.count, 1));
  std::fprintf(to, "%10s %6.1f %% %10" PRIu64 " %10s %10s %10s  %s\n", span_of(task.total).text,
               percent(task.total, whole), task.count, span_of(task.total / count).text,
               span_of(task.longest).text, span_of(task.waited).text, name);
}

void print_worker(std::FILE* to, const char* name, const profile::worker& worker) {
  const nanoseconds whole = all_of(worker);
  std::fprintf(to, "%10s %8.1f %% %8.1f %% %8.1f %% %8.1f %%\n", name,
               percent(worker.running, whole), percent(worker.searching, whole),
               percent(worker.sleeping, whole), percent(worker.waiting, whole));
}

}  // namespace

void profile::task::add(const task& other) noexcept {
  count += other.count;
  total += other.total;
  longest = std::max(longest, other.longest);
  waited += other.waited;
}

void print(const profile& times, std::FILE* to, std::size_t most) {
  const nanoseconds whole = all_of(sum_of(times.workers));
  std::fprintf(to,
               "creek: profile of %zu worker%s on %s, %s of wall time (%s)\n"
               "      time    share      count       mean    longest  suspended  task, with what "
               "ran within it\n",
               times.workers.size(), times.workers.size() == 1 ? "" : "s", times.backend,
               span_of(times.duration).text, variable);
  profile::task other_tasks;
  for (std::size_t i = 0; i < times.tasks.size(); ++i) {
    const profile::task& each = times.tasks[i];
    if (i < most) {
      print_task(to, each, whole, shortened(each.name).c_str());
    } else {
      other_tasks.add(each);
    }
  }
  if (times.tasks.size() > most) {
    print_task(to, other_tasks, whole,
               (decimal(times.tasks.size() - most) + " other names").c_str());
  }
  std::fputs("    worker    running  searching   sleeping    waiting\n", to);
  for (std::size_t i = 0; i < std::min(most, times.workers.size()); ++i) {
    print_worker(to, decimal(i).c_str(), times.workers[i]);
  }
  if (times.workers.size() > most) {
    print_worker(to, "others", sum_of(times.workers.subspan(most)));
  }
  print_worker(to, "all", sum_of(times.workers));
}

void print_json(const profile& times, std::FILE* to) {
  std::fprintf(to,
               R"({"schema_version":1,"command":"%s","backend":"%s","duration_ns":%)" PRId64
               R"(,"tasks":[)",
               variable, times.backend, times.duration.count());
  const char* separator = "\n";
  for (const profile::task& each : times.tasks) {
    std::fprintf(to,
                 R"(%s{"name":%s,"count":%)" PRIu64 R"(,"total_ns":%)" PRId64
                 R"(,"longest_ns":%)" PRId64 R"(,"waited_ns":%)" PRId64 "}",
                 separator, detail::json_string(each.name).c_str(), each.count, each.total.count(),
                 each.longest.count(), each.waited.count());
    separator = ",\n";
  }
  std::fputs("],\"workers\":[", to);
  separator = "\n";
  for (const profile::worker& each : times.workers) {
    std::fprintf(to,
                 R"(%s{"running_ns":%)" PRId64 R"(,"searching_ns":%)" PRId64
                 R"(,"sleeping_ns":%)" PRId64 R"(,"waiting_ns":%)" PRId64 "}",
                 separator, each.running.count(), each.searching.count(), each.sleeping.count(),
                 each.waiting.count());
    separator = ",\n";
  }
  std::fputs("]}\n", to);
}

std::optional<profile_output> profile_output::from_environment() {
  const char* const value = std::getenv(variable);
  const std::string_view text = value != nullptr ? value : "";
  if (text.empty() || text == "0") return std::nullopt;
  if (text == "1") return profile_output(nullptr);
  constexpr std::string_view ending = ".json";
  if (!text.ends_with(ending) || text.size() == ending.size()) {
    throw usage_error(std::string(variable) + "='" + value +
                      "': give 0, 1 for a table, or the name of a file that ends in .json");
  }
  return profile_output(std::make_unique<atomic_file>(value));
}

profile_output::profile_output(std::unique_ptr<atomic_file> file) noexcept
    : file_(std::move(file)) {}
profile_output::profile_output(profile_output&&) noexcept = default;
profile_output::~profile_output() = default;

void profile_output::write(const profile& times) {
  // In one piece: another runtime may end at the same time.
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const memory = open_memstream(&text, &bytes);
  if (memory == nullptr) throw error(errno, "cannot write the profile");
  file_ ? print_json(times, memory) : print(times, memory);
  const bool failed = std::fclose(memory) != 0;
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  if (failed) throw error(errno, "cannot write the profile");
  if (file_) {
    file_->write({text, bytes});
    file_->commit();
  } else {
    std::fwrite(text, 1, bytes, stderr);
  }
}

void warn_of_no_profile(const char* backend) {
  if (!profile_output::from_environment()) return;
  std::fprintf(stderr, "creek: %s: only the host backend has a profile; this runtime is on %s\n",
               variable, backend);
}

}  // namespace creek
