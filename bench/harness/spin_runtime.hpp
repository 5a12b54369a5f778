// SPDX-License-Identifier: Apache-2.0
// The lock of the peer spin: creek's for short critical sections.
#pragma once

#include <creek/core/threads/spin_lock.hpp>
#include <mutex>

namespace bench {
using lock = creek::spin_lock;
}
