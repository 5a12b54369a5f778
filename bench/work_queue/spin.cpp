// SPDX-License-Identifier: Apache-2.0
// Under creek's lock for a few instructions.
#include <creek/core/spin_lock.hpp>

#include "threads.hpp"

namespace bench::work_queue {
namespace {

const both_registered<locked<creek::spin_lock>> registered;

}  // namespace
}  // namespace bench::work_queue
