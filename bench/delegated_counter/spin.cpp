// SPDX-License-Identifier: Apache-2.0
// Increments under creek's lock for short critical sections.
#include <creek/core/threads/spin_lock.hpp>

#include "threads.hpp"

namespace bench::delegated_counter {
namespace {

const registration registered{what, run_locked<creek::spin_lock>};

}  // namespace
}  // namespace bench::delegated_counter
