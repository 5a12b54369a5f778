// SPDX-License-Identifier: Apache-2.0
// Names of tasks and numbers of arrows, for the events of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <new>
#include <unordered_map>

#include <creek/core/measuring/trace.hpp>
#include <creek/tasking/waiting.hpp>

namespace creek::host_backend {

/// The readable names of kinds of tasks, for the events of one worker; each is made at its first
/// event. Used only by who acts as the worker.
class task_labels {
 public:
  enum class part : std::uint8_t { whole, resumed };

  /// Called before the worker's track is published. Arrows have numbers from `first_arrow` on.
  void record_in(trace::session& session, std::int64_t first_arrow) noexcept {
    session_ = &session;
    next_arrow_ = first_arrow;
  }
  /// Returns the name for a task, or for its part after a wait. `kind` is task_type::name, or null
  /// for an unknown one. For workers that are traced.
  trace::name of(const char* kind, part which) noexcept {
    const bool is_whole = which == part::whole;
    try {
      if (kind != nullptr) return find(kind, is_whole);
    } catch (const std::bad_alloc&) {  // an event without the task's name
    }
    return is_whole ? trace::name("task") : trace::name("resumed");
  }
  /// Returns a number that no other arrow of the session has, never 0.
  std::int64_t new_arrow() noexcept { return next_arrow_++; }

 private:
  trace::name find(const char* kind, bool is_whole) {
    auto& known = names_[is_whole ? 0 : 1];
    if (const auto found = known.find(kind); found != known.end()) return found->second;
    const std::string text = ext::readable_name(kind) + (is_whole ? "" : ", resumed");
    return known.emplace(kind, session_->intern(text)).first->second;
  }

  trace::session* session_ = nullptr;
  std::array<std::unordered_map<const char*, trace::name>, 2> names_;
  std::int64_t next_arrow_ = 0;
};

}  // namespace creek::host_backend
