// SPDX-License-Identifier: Apache-2.0
// Names, arithmetic and JSON of counters.
#include <creek/core/decimal.hpp>
#include <creek/core/measuring/counters.hpp>

#include <string>

namespace creek {
namespace {

constexpr std::array<std::string_view, counter_count> names = {
    "tasks",    "spawns",      "inline_runs", "steals_tried", "steals_won", "forced_shares",
    "suspends", "resumes",     "stacks",      "wakes",        "parks",      "messages",
    "bytes",    "invocations", "idle_ns",     "parked_ns"};
static_assert(!names.back().empty(), "one name a counter");

}  // namespace

std::string_view name_of(counter which) noexcept {
  return names[static_cast<std::size_t>(which)];
}

counter_values& counter_values::operator+=(const counter_values& other) noexcept {
  for (std::size_t i = 0; i < counter_count; ++i) values_[i] += other.values_[i];
  return *this;
}

counter_values& counter_values::operator-=(const counter_values& earlier) noexcept {
  for (std::size_t i = 0; i < counter_count; ++i) values_[i] -= earlier.values_[i];
  return *this;
}

counter_values worker_counters::snapshot() const noexcept {
  counter_values result;
  for (std::size_t i = 0; i < counter_count; ++i) {
    result[static_cast<counter>(i)] = values_[i].load(std::memory_order_relaxed);
  }
  return result;
}

counter_values total_of(std::span<const counter_values> workers) noexcept {
  counter_values total;
  for (const counter_values& worker : workers) total += worker;
  return total;
}

std::string to_json(const counter_values& values) {
  std::string object;
  for (std::size_t i = 0; i < counter_count; ++i) {
    object += i == 0 ? "{\"" : ",\"";
    object += names[i];
    object += "\":" + decimal(values[static_cast<counter>(i)]);
  }
  return object + '}';
}

std::string to_json(std::span<const counter_values> workers) {
  std::string document = "{\"total\":" + to_json(total_of(workers)) + ",\"workers\":[";
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (i > 0) document += ',';
    document += to_json(workers[i]);
  }
  return document + "]}";
}

}  // namespace creek
