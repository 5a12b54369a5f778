// SPDX-License-Identifier: Apache-2.0
// Tasks that wait, for reports of programs that hang.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek {

/// A task that is suspended.
struct waiting_task {
  std::string task;                   ///< where its closure was written, as the compiler spells it
  std::string what;                   ///< what it waits for
  std::chrono::nanoseconds waited{};  ///< how long so far
  std::string by = {};  ///< who would end the wait, and what that one does; empty: no more is known
  std::string cycle = {};  ///< a cycle of waits, in one of its tasks; empty in the others
};

/// Returns a line for each task, longest wait first, and at most `most` of them; then a line for
/// each cycle of waits.
std::string to_string(std::span<const waiting_task> tasks, std::size_t most = 20);

namespace ext {
/// Returns the part of a task_type's name that says where its closure was written; any other text
/// as it is. Safe in a signal handler.
constexpr std::string_view task_site(std::string_view name) noexcept {
  const auto at = name.find("F = ");
  if (at == name.npos) return name;
  name.remove_prefix(at + 4);
  if (name.ends_with(']')) name.remove_suffix(1);
  return name;
}
/// Returns the part of a task_type's name that a reader wants; "" stays empty.
std::string readable_name(std::string_view name);
}  // namespace ext

}  // namespace creek
