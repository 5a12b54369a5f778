// SPDX-License-Identifier: Apache-2.0
// Section under a std::mutex.
#include "threads.hpp"

namespace bench::delegated_section {
namespace {

const all_registered<locked<std::mutex>> registered;

}  // namespace
}  // namespace bench::delegated_section
