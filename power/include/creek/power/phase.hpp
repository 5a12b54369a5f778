// SPDX-License-Identifier: Apache-2.0
// The phases of a program, such as "read" and "factor", as scopes: what workers do meanwhile is
// attributed to them by creek::power::accounting.
#pragma once

#include <cstdint>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek::power {

/// A phase of the whole process, from here to the end of the scope; phases nest, and the one opened
/// last counts. Any thread; where several threads have phases open at once, work counts for the one
/// opened last by any of them: phases are steps of a program, not of a thread. About 0.5 us at
/// either end: a reading of the process's CPU time; nothing is allocated for a name that was used
/// before.
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
