// SPDX-License-Identifier: Apache-2.0
// Names, arithmetic and JSON of counters.
#include <nlohmann/json.hpp>

#include <creek/core/counters.hpp>

namespace creek {
namespace {

constexpr std::array<std::string_view, counter_count> names = {
    "tasks",         "spawns",   "inline_runs", "steals_tried", "steals_won",
    "forced_shares", "suspends", "resumes",     "stacks",       "wakes",
    "parks",         "messages", "bytes",       "invocations",  "idle_ns",
    "parked_ns"};
static_assert(!names.back().empty(), "one name a counter");

nlohmann::ordered_json object_of(const counter_values& values) {
  nlohmann::ordered_json object;
  for (std::size_t i = 0; i < counter_count; ++i) {
    object[std::string(names[i])] = values[static_cast<counter>(i)];
  }
  return object;
}

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
  return object_of(values).dump();
}

std::string to_json(std::span<const counter_values> workers) {
  nlohmann::ordered_json document;
  document["total"] = object_of(total_of(workers));
  document["workers"] = nlohmann::ordered_json::array();
  for (const counter_values& worker : workers) document["workers"].push_back(object_of(worker));
  return document.dump();
}

}  // namespace creek
