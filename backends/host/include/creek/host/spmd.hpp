// SPDX-License-Identifier: Apache-2.0
// Runs one function on a number of host threads that send each other messages.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include <creek/core/messages/communicator.hpp>
#include <creek/host/memory.hpp>

namespace creek {

struct spmd_options {
  host_backend::memory_options memory = {};
  communicator_options messages = {};
};

/// One rank of a program on host threads.
using host_communicator = communicator<host_backend::memory>;

namespace host_backend {
/// Calls `rank(memory)` on `ranks` threads, one per core of a fresh memory_space, and joins them.
/// If one throws, the waits of all others throw too, and the first exception is rethrown here.
void run_ranks(int ranks, const memory_options& options, const std::function<void(memory&)>& rank);
}  // namespace host_backend

/// Calls `f(communicator)` on `ranks` threads at once: a program of its own, with all
/// message-passing memory; any thread, nested calls too. There may be more ranks than processors.
/// Returns when all have returned. If one throws, the others are released from their waits by
/// `creek::error` (ECANCELED), and the first exception is rethrown. An `f(communicator, allocator)`
/// gets the memory that the communicator leaves.
template <class F>
void spmd(int ranks, F&& f, const spmd_options& options = {}) {
  host_backend::run_ranks(ranks, options.memory, [&](host_backend::memory& memory) {
    symmetric_allocator allocator{0, memory.mpm_bytes(), host_backend::memory::line_bytes};
    host_communicator c{memory, allocator, team{memory}, options.messages};
    if constexpr (std::is_invocable_v<F&, host_communicator&, symmetric_allocator&>) {
      f(c, allocator);
    } else {
      f(c);
    }
  });
}

}  // namespace creek
