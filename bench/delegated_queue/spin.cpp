// SPDX-License-Identifier: Apache-2.0
// Queue under creek's lock for short critical sections.
#include <creek/core/threads/spin_lock.hpp>

#include "threads.hpp"

namespace bench::delegated_queue {
namespace {

const registration by_one{one, run_locked<creek::spin_lock, 1>};
const registration by_eight{eight, run_locked<creek::spin_lock, 8>};

}  // namespace
}  // namespace bench::delegated_queue
