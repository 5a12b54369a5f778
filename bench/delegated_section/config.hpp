// SPDX-License-Identifier: Apache-2.0
// A critical section that all workers enter repeatedly, n times together, and nothing else: how
// much must it touch, or how long must it take, so that sending it to its data beats a lock? One
// workload per size: it changes a word in each of that many cache lines, or in one and computes. In
// `section_call_...` the caller waits for the result, in the others nobody does.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "harness/invoked.hpp"

namespace bench::delegated_section {

struct variant {
  std::string_view name;
  std::string_view about;
  int lines = 1;
  int length_ns = 0;  ///< computing time besides the writes
  bool answered = false;

  constexpr description what() const {
    return {.name = name,
            .about = about,
            .unit = "ns/section",
            .full = 200'000,
            .quick = 50'000,
            .smoke = 500,
            .min_workers = 2,
            .groups = "sections"};
  }
};

inline constexpr std::array<variant, 14> variants{{
    {"section_1", "1 line, nobody waits", 1},
    {"section_4", "4 lines, nobody waits", 4},
    {"section_16", "16 lines, nobody waits", 16},
    {"section_64", "64 lines, nobody waits", 64},
    {"section_256", "256 lines, nobody waits", 256},
    {"section_100ns", "1 line and 100 ns, nobody waits", 1, 100},
    {"section_1us", "1 line and 1 us, nobody waits", 1, 1000},
    {"section_call_1", "1 line, result wanted", 1, 0, true},
    {"section_call_4", "4 lines, result wanted", 4, 0, true},
    {"section_call_16", "16 lines, result wanted", 16, 0, true},
    {"section_call_64", "64 lines, result wanted", 64, 0, true},
    {"section_call_256", "256 lines, result wanted", 256, 0, true},
    {"section_call_100ns", "1 line and 100 ns, result wanted", 1, 100, true},
    {"section_call_1us", "1 line and 1 us, result wanted", 1, 1000, true},
}};

/// State that the section protects.
class state {
 public:
  explicit state(int lines) : lines_(static_cast<std::size_t>(lines)) {}

  /// Runs the section, with `steps` steps of busy().
  std::uint64_t enter(std::int64_t steps) {
    for (line& each : lines_) ++each.word;
    return lines_.front().spent = busy(steps, lines_.front().spent);
  }
  /// Returns the number of entries, summed over the lines, each of which counts them.
  std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const line& each : lines_) all += each.word;
    return all;
  }

 private:
  struct alignas(64) line {
    std::uint64_t word = 0;
    std::uint64_t spent = 0;
  };
  std::vector<line> lines_;
};

inline std::int64_t steps_of(const variant& v, const settings& s) {
  return s.grain * v.length_ns / 1000;
}

/// Adds all variants to this peer's table, to be run by `Peer::measure<number in variants>`.
template <class Peer>
class all_registered {
 public:
  all_registered() { enter(std::make_index_sequence<variants.size()>{}); }

 private:
  template <std::size_t... Number>
  static void enter(std::index_sequence<Number...>) {
    (registration(variants[Number].what(), &Peer::template measure<Number>), ...);
  }
};

}  // namespace bench::delegated_section
