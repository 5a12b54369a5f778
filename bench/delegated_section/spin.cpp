// SPDX-License-Identifier: Apache-2.0
// Under creek's lock for a few instructions.
#include <creek/core/spin_lock.hpp>

#include "threads.hpp"

namespace bench::delegated_section {
namespace {

const all_registered<locked<creek::spin_lock>> registered;

}  // namespace
}  // namespace bench::delegated_section
