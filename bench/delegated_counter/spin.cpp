// SPDX-License-Identifier: Apache-2.0
// Under creek's lock for a few instructions.
#include <creek/core/spin_lock.hpp>

#include "threads.hpp"

namespace bench::delegated_counter {
namespace {

const registration registered{what, run_locked<creek::spin_lock>};

}  // namespace
}  // namespace bench::delegated_counter
