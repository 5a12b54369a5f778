// SPDX-License-Identifier: Apache-2.0
#include <creek/core/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace creek {
namespace {

constexpr std::string_view prefix = "CREEK_";

/// Without pointers, which the loader of every program would relocate.
constexpr char variables[][22]{
    "CREEK_BACKEND",         "CREEK_WORKERS",      "CREEK_PIN",
    "CREEK_SCHEDULER",       "CREEK_DEQUE",        "CREEK_IDLE",
    "CREEK_MESSAGES",        "CREEK_BLAS",         "CREEK_SERVE_ONLY",
    "CREEK_STALL_LIMIT",     "CREEK_HANG_LIMIT",   "CREEK_METER",
    "CREEK_SYSFS",           "CREEK_JOBS",         "CREEK_STACK_SIZE",
    "CREEK_HASH_SEED",       "CREEK_TEST_LINE_MB", "CREEK_CI_MINUTES",
    "CREEK_DUMP_ON_SIGQUIT", "CREEK_PROFILE",      "CREEK_LAPACK_VERBOSE",
    "CREEK_POWER",           "CREEK_SPIN_WAIT",    "CREEK_MPI",
    "CREEK_MPI_SPIN",        "CREEK_MPI_MODULES",  "CREEK_MPI_WATCH",
    "CREEK_SCALAPACK"};

/// Names, after the prefix, that tests, the build and the benchmarks use among themselves.
constexpr char own_prefixes[][7]{"TEST_", "CI_", "BENCH_", "FUZZ_", "WITH_"};

/// Returns the steps from `a` to `b`, each of which adds, drops or replaces a letter or exchanges
/// two neighbours, no letter twice (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string_view> environment_variables() {
  return {std::begin(variables), std::end(variables)};
}

std::optional<std::string_view> variable_meant_by(std::string_view name) {
  constexpr auto to_view = [](const char* known) { return std::string_view(known); };
  const auto begins = [&](std::string_view own) {
    return name.substr(prefix.size()).starts_with(own);
  };
  if (!name.starts_with(prefix) || std::ranges::any_of(own_prefixes, begins)) return std::nullopt;
  if (std::ranges::find(variables, name, to_view) != std::end(variables)) return std::nullopt;
  for (const std::size_t steps : {1, 2}) {
    for (const std::string_view known : variables) {
      constexpr std::size_t long_name = prefix.size() + 6;
      if (steps > 1 && known.size() < long_name) continue;
      if (distance(name, known) == steps) return known;
    }
  }
  return std::nullopt;
}

void warn_of_misspelt_variables() {
  static constinit std::atomic<bool> is_done{false};
  if (is_done.exchange(true, std::memory_order_relaxed)) return;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const auto meant = variable_meant_by(name);
    if (!meant) continue;
    std::fprintf(stderr, "creek: %s: not a variable of creek; did you mean %s?\n",
                 std::string(name).c_str(), std::string(*meant).c_str());
  }
}

}  // namespace creek
