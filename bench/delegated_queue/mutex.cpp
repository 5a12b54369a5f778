// SPDX-License-Identifier: Apache-2.0
// Queue under a std::mutex.
#include "threads.hpp"

namespace bench::delegated_queue {
namespace {

const registration by_one{one, run_locked<std::mutex, 1>};
const registration by_eight{eight, run_locked<std::mutex, 8>};

}  // namespace
}  // namespace bench::delegated_queue
