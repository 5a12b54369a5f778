// SPDX-License-Identifier: Apache-2.0
// Continuing a coroutine as a task.
#pragma once

#include <coroutine>

#include <creek/tasking/spawn.hpp>

namespace creek::detail {

/// Continues the coroutine until it ends or waits again, with a scope of its own as a task of
/// `type`. Its exceptions end in its promise. Waits for what it has spawned.
inline void resume_as_task(std::coroutine_handle<> coroutine, const task_type& type) noexcept {
  error_slot error;
  run_framed<ending::strict>(coroutine, current_stack, nullptr, &type, error);
}

}  // namespace creek::detail
