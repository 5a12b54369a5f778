// SPDX-License-Identifier: Apache-2.0
// Includes all of the tasking module.
#pragma once

#include <creek/tasking/blocked_range.hpp>
#include <creek/tasking/blocking.hpp>
#include <creek/tasking/channel.hpp>
#include <creek/tasking/coroutine.hpp>
#include <creek/tasking/descriptors.hpp>
#include <creek/tasking/foreign.hpp>
#include <creek/tasking/fork_all.hpp>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/future.hpp>
#include <creek/tasking/graph.hpp>
#include <creek/tasking/hash.hpp>
#include <creek/tasking/options.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_invoke.hpp>
#include <creek/tasking/parallel_reduce.hpp>
#include <creek/tasking/parallel_scan.hpp>
#include <creek/tasking/parallel_sort.hpp>
#include <creek/tasking/priority.hpp>
#include <creek/tasking/remote.hpp>
#include <creek/tasking/remote_group.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/select.hpp>
#include <creek/tasking/sleep.hpp>
#include <creek/tasking/spawn.hpp>
#include <creek/tasking/task_group.hpp>
#include <creek/tasking/task_local.hpp>
#include <creek/tasking/this_worker.hpp>
#include <creek/tasking/when.hpp>
