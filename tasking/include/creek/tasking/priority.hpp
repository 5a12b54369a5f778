// SPDX-License-Identifier: Apache-2.0
// Priorities of tasks.
#pragma once

#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

/// Order in which workers that look for work begin tasks: spawn(), async() and task_group::spawn()
/// take it as their first argument. A task of high priority comes before all others that the worker
/// could begin, one of low priority when the worker finds nothing else. Tasks of high, and of low,
/// priority begin in the order in which they were made, unless a wait for one runs it at once.
/// While there are any, every 32nd choice of a worker goes to the others in turn, so none is put
/// off for ever. No task is interrupted, and one that waits for its children first runs those of
/// normal priority that no other worker has taken.
///
/// High and low priority cost an allocation and a lock, some 100 ns a task: they are for tasks of
/// microseconds and more. The host backend follows them; on others they change nothing.
enum class priority : std::int8_t { low = -1, normal, high };

}  // namespace creek
