// SPDX-License-Identifier: Apache-2.0
// Increments under a std::mutex.
#include <mutex>

#include "threads.hpp"

namespace bench::delegated_counter {
namespace {

const registration registered{what, run_locked<std::mutex>};

}  // namespace
}  // namespace bench::delegated_counter
