// SPDX-License-Identifier: Apache-2.0
// Workload of the benchmark peers: a description that all peers share (name, unit, sizes) and, per
// peer, one function that runs it once and returns the duration of the timed part. A peer is a
// process, since libgomp and libomp cannot be in the same one; its main() is in peer_main.cpp.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// The sizes at which a workload runs, ascending: `.full = 30` or `.full = {1000, 2000}`.
class sizes {
 public:
  constexpr sizes(std::int64_t one) : sizes({one}) {}
  constexpr sizes(std::initializer_list<std::int64_t> some) : count_(some.size()) {
    std::copy(some.begin(), some.end(), values_.begin());
  }
  [[nodiscard]] constexpr std::span<const std::int64_t> all() const {
    return std::span(values_).first(count_);
  }
  [[nodiscard]] constexpr std::int64_t first() const { return values_[0]; }

 private:
  std::array<std::int64_t, 8> values_{};
  std::size_t count_;
};

/// One workload, the same for every peer. Sizes: `full` for figures worth quoting, `quick` for a
/// result in a minute, `smoke` for tests (every answer checked, timings meaningless).
struct description {
  std::string_view name;
  std::string_view about;  ///< describes one unit of work, for readers of the table
  std::string_view unit;   ///< unit of the figure, such as "ns/fork"
  sizes full = 0;
  sizes quick = 0;
  sizes smoke = 0;
  unsigned min_workers = 1;  ///< fewer workers make no sense
  bool limit = false;        ///< a limit of the machine, not something peers compete in
  bool all_workers = false;  ///< a limit of all workers together, not of two of them
  bool rate = false;         ///< the figure is work / total_ns (GB/s), not total_ns / work
  bool warmup = true;        ///< the driver asks for an untimed run first
  double scale = 1;          ///< factor from the quotient to `unit`
  std::string_view groups = "tasking";  ///< `creek bench` commands that run it, by blanks
  std::string_view bounds = {};         ///< limits that its figures are compared with, by blanks
  std::string_view share_of =
      {};  ///< its figures are shown as shares of the best rate of this workload
};

/// Returns the description of a workload with the sizes and the unit of another one.
constexpr description like(description other, std::string_view name, std::string_view about) {
  other.name = name;
  other.about = about;
  return other;
}

/// Settings of one run, straight from the command line.
struct settings {
  std::string workload;
  std::string peer;    ///< only for a program with several peers
  std::int64_t n = 0;  ///< size; its meaning is in the workload's config.hpp
  unsigned workers = 1;
  std::int64_t grain = 700;  ///< steps of busy() in a "1 us" task; the driver calibrates it
  std::string scheduler;     ///< creek only; empty: the library's default
  std::string deque;         ///< creek only
  std::string idle;          ///< creek only
};

/// Result of one run. `answer` depends on workload and size only, never on peer or workers.
struct sample {
  double total_ns = 0;
  double work = 1;  ///< forks, tasks, elements, ...: total_ns / work is the figure
  std::uint64_t answer = 0;
};

using run_function = sample (*)(const settings&);
using print_function = void (*)(const settings&, std::FILE* to);

/// Adds a workload to this peer's table; one static object per source file.
class registration {
 public:
  /// `print_input`, for peers in other languages: prints the input.
  registration(const description& what, run_function run, print_function print_input = nullptr);
};

struct entry {
  description what;
  run_function run;
  print_function print_input;
};

/// Returns the table of this peer, sorted by name.
std::vector<entry>& table();

/// Returns this peer's name: defined once per peer, in harness/*_runtime.cpp.
std::string peer_name();
std::string peer_version();

/// Called before anything else in main(). A peer whose runtime reads its environment at load time
/// may set it and execute itself again here.
void prepare_environment(const settings& s, char** argv);

/// Returns a figure that is the median of many measurements within one run; `work` is their number.
/// Without any, work is 0, and the run reports that nothing could be measured.
sample median_sample(std::vector<double> nanoseconds, std::uint64_t answer);

/// Returns the wall nanoseconds that `f` takes.
template <class F>
double timed(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  const auto stop = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(stop - start).count();
}

/// Number of equal parts of the n repetitions of something far shorter than a reading of the clock.
/// The figure is the median of the parts' means, since one preemption would spoil the mean of all.
inline constexpr std::int64_t parts = 64;
inline std::int64_t repeats_of_part(std::int64_t n) {
  return std::max<std::int64_t>(1, n / parts);
}
inline std::int64_t repeats(std::int64_t n) {
  return parts * repeats_of_part(n);
}

/// Calls `f` repeats(n) times.
template <class F>
sample median_of_parts(std::int64_t n, const F& f, std::uint64_t answer = 0) {
  const std::int64_t each = repeats_of_part(n);
  std::vector<double> means;
  for (std::int64_t part = 0; part < parts; ++part) {
    const double ns = timed([&] {
      for (std::int64_t i = 0; i < each; ++i) f();
    });
    means.push_back(ns / static_cast<double>(each));
  }
  return median_sample(std::move(means), answer);
}

/// Does compute-bound work that no compiler shortens: `steps` dependent multiply-adds. The result
/// is part of the answer, so that no peer can leave it out. About four cycles per step.
inline std::uint64_t busy(std::int64_t steps, std::uint64_t x) {
  for (std::int64_t i = 0; i < steps; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
  return x;
}

}  // namespace bench
