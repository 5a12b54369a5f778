// SPDX-License-Identifier: Apache-2.0
// Queue under a std::mutex.
#include "threads.hpp"

namespace bench::work_queue {
namespace {

const both_registered<locked<std::mutex>> registered;

}  // namespace
}  // namespace bench::work_queue
