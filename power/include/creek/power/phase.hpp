// SPDX-License-Identifier: Apache-2.0
// Phases of a program, such as "read" and "factor", as scopes: creek::power::accounting attributes
// to them the workers' activity during them.
#pragma once

#include <cstdint>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek::power {

/// Phase of the whole process, open until the end of the scope. Phases nest; work counts for the
/// phase opened last. Any thread may open one; if several threads have phases open at once, work
/// counts for the one opened last by any of them: phases are steps of a program, not of a thread.
/// Opening and closing take about 0.5 us each, to read the process's CPU time; a name used before
/// allocates nothing.
class [[nodiscard]] phase {
 public:
  explicit phase(std::string_view name);
  ~phase();
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  std::uint64_t number_;
};

}  // namespace creek::power
