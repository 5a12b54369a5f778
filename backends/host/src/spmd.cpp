// SPDX-License-Identifier: Apache-2.0
// The threads behind creek::spmd, and what happens when one of them fails.
#include <creek/host/spmd.hpp>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace creek::host_backend {

void run_ranks(int ranks, const memory_options& options, const std::function<void(memory&)>& rank) {
  memory_space space{ranks, options};
  std::exception_ptr first;
  std::once_flag failed;
  const auto run = [&](int number) {
    try {
      memory view = space.core(core_id{number});
      rank(view);
    } catch (...) {
      // Later exceptions are mostly the errors of ranks released from their waits.
      std::call_once(failed, [&] { first = std::current_exception(); });
      space.abort();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    try {
      for (int number = 0; number < ranks; ++number) threads.emplace_back(run, number);
    } catch (...) {
      space.abort();  // the system refused a thread: the ranks that run would wait for it
      throw;
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace creek::host_backend
