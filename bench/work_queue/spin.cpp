// SPDX-License-Identifier: Apache-2.0
// Queue under creek's lock for short critical sections.
#include <creek/core/threads/spin_lock.hpp>

#include "threads.hpp"

namespace bench::work_queue {
namespace {

const both_registered<locked<creek::spin_lock>> registered;

}  // namespace
}  // namespace bench::work_queue
