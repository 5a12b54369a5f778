// SPDX-License-Identifier: Apache-2.0
// Tells the coherence checker where in the program an access is made.
#pragma once

#include "checker/checker.hpp"
#include "chip/machine.hpp"

namespace creek::scc_backend {

/// Tells the checker, if there is one, who called the function that this is inlined into.
[[gnu::always_inline]] inline void note_caller(machine& on) {
  if (checker* check = on.memory().check(); check != nullptr) [[unlikely]] {
    check->points().called_from(__builtin_return_address(0), __builtin_frame_address(0));
  }
}

}  // namespace creek::scc_backend
