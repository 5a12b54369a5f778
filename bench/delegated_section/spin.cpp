// SPDX-License-Identifier: Apache-2.0
// Section under creek's lock for short critical sections.
#include <creek/core/threads/spin_lock.hpp>

#include "threads.hpp"

namespace bench::delegated_section {
namespace {

const all_registered<locked<creek::spin_lock>> registered;

}  // namespace
}  // namespace bench::delegated_section
