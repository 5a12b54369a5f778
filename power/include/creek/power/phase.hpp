// SPDX-License-Identifier: Apache-2.0
// The phases of a program, such as "read" and "factor", as scopes: what workers do meanwhile is
// attributed to them by creek::power::accounting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <creek/core/clock.hpp>

namespace creek::power {

/// A phase of the whole process, from here to the end of the scope; phases nest, and the one opened
/// last counts. Any thread; where several threads have phases open at once, work counts for the one
/// opened last by any of them: phases are steps of a program, not of a thread. About 0.1 us, a lock
/// for a moment; nothing is allocated for a name that was used before.
class phase {
 public:
  explicit phase(std::string_view name);
  ~phase();
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  std::uint64_t number_;
};

namespace detail {

/// The interned name of a phase; 0: no phase is open.
using phase_id = std::uint32_t;

/// From `since` on, until the next change, this phase is open.
struct phase_change {
  std::int64_t since = 0;  ///< see phase_time()
  phase_id phase = 0;
};

/// A text for each phase_id so far.
[[nodiscard]] std::string phase_name(phase_id phase);

}  // namespace detail

}  // namespace creek::power
