// SPDX-License-Identifier: Apache-2.0
// Result of a search for work.
#pragma once

#include <creek/tasking/ext/task_stack.hpp>

#include "fibers/fiber.hpp"

namespace creek::host_backend {

/// At most one member is set.
struct found_work {
  ext::task_slot* slot = nullptr;
  fiber* resumed = nullptr;
  ext::submitted_task* task = nullptr;
  bool messages = false;
  explicit operator bool() const noexcept { return slot || resumed || task || messages; }
};

}  // namespace creek::host_backend
