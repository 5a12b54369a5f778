// SPDX-License-Identifier: Apache-2.0
// The lock of the peer mutex.
#pragma once

#include <mutex>

namespace bench {
using lock = std::mutex;
}
