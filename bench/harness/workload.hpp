// SPDX-License-Identifier: Apache-2.0
// Workload of the benchmark peers: a description that all peers share (name, unit, sizes) and, per
// peer, one function that runs it once and says how long the timed part took. A peer is a process
// (libgomp and libomp cannot live in one); its main() is in peer_main.cpp.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// The sizes that a workload is run at, ascending: `.full = 30` or `.full = {1000, 2000}`.
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

/// One workload as every peer knows it. Sizes: `full` for figures worth quoting, `quick` for a look
/// in a minute, `smoke` for tests (every answer checked, timings meaningless).
struct description {
  std::string_view name;
  std::string_view about;  ///< describes one unit of work, for readers of the table
  std::string_view unit;   ///< unit of the figure, such as "ns/fork"
  sizes full = 0;
  sizes quick = 0;
  sizes smoke = 0;
  unsigned min_workers = 1;  ///< fewer make no sense
  bool limit = false;        ///< a limit of the machine, not something peers compete in
  bool all_workers = false;  ///< a limit of all workers together, not of two of them
  bool rate = false;         ///< the figure is work / total_ns (GB/s), not total_ns / work
  bool warmup = true;        ///< the driver asks for an untimed run first
  double scale = 1;          ///< factor from that quotient to `unit`
  std::string_view groups = "tasking";  ///< commands `creek bench ...` that run it, by blanks
  std::string_view bounds = {};         ///< limits that its figures are held against, by blanks
  std::string_view share_of =
      {};  ///< a workload whose best rate its figures are given as shares of
};

/// Settings of one run, straight from the command line.
struct settings {
  std::string workload;
  std::string peer;    ///< only for a program that is several peers
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

/// Enters a workload in this peer's table; one static object a source file.
class registration {
 public:
  registration(const description& what, run_function run);
};

struct entry {
  description what;
  run_function run;
};

/// The table of this peer, sorted by name.
std::vector<entry>& table();

/// Returns this peer's name: defined once per peer, in harness/*_runtime.cpp.
std::string peer_name();
std::string peer_version();

/// Called before anything else in main(). A peer whose runtime reads its environment at load time
/// may set it and execute itself again here.
void prepare_environment(const settings& s, char** argv);

/// A figure that is the median of many measurements within one run: `work` is how many there were.
/// Without any, work is 0, and the run says that nothing could be measured.
sample median_sample(std::vector<double> nanoseconds, std::uint64_t answer);

/// Wall nanoseconds that `f` takes.
template <class F>
double timed(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  const auto stop = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(stop - start).count();
}

/// Something far shorter than a reading of the clock is repeated n times in 64 equal parts, and the
/// figure is the median of their means, because one preemption would spoil the mean of all.
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

/// Compute-bound work that no compiler shortens: `steps` dependent multiply-adds. The result is
/// part of the answer, so that no peer can leave it out. About four cycles a step.
inline std::uint64_t busy(std::int64_t steps, std::uint64_t x) {
  for (std::int64_t i = 0; i < steps; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
  return x;
}

}  // namespace bench
