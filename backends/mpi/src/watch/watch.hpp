// SPDX-License-Identifier: Apache-2.0
// The watch between the ranks of a run: each rank has a watcher, a process of its own that outlives
// it, and says who ended without a word. See backends/mpi/README.md.
#pragma once

#include <sys/types.h>

#include <string>

#include <creek/core/function_ref.hpp>

#include "sockets.hpp"

namespace creek::mpi_backend {

/// How CREEK_MPI_WATCH is set. Throws usage_error for an unknown value.
enum class watch_setting { off, on, verbose };
[[nodiscard]] watch_setting watch_from_environment();

/// The watch of this rank; one per process, used by its main thread.
class watch {
 public:
  using broadcast = function_ref<void(void*, std::size_t)>;

  /// Starts the watcher, which inherits the memory of this process as it is: before MPI is
  /// initialised. Without one all other functions do nothing.
  explicit watch(watch_setting setting);
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch() { leave(); }

  /// Connects the watcher to that of rank 0; every rank calls it. `from_rank_0` copies data of rank
  /// 0 to all. Takes at most two seconds, after which this rank is not watched.
  void join(int rank, int ranks, const std::string& host, broadcast from_rank_0);

  /// Writes the line about an error of this rank, of which 4 KB are kept, unless another rank was
  /// first. Returns whether it was written: then this rank has to end the run. `by_mpi`: an error
  /// of MPI, which the end of another rank may have caused.
  [[nodiscard]] bool report(const std::string& line, bool by_mpi) noexcept;

  /// Ends the watch, since this rank ends in order; waits until the watcher is gone.
  void leave() noexcept;

 private:
  [[nodiscard]] bool receive(watch_request& answer, int* passed_socket) noexcept;

  watch_setting setting_;
  int rank_ = 0;
  descriptor control_, lifeline_;
  activity* shared_ = nullptr;
};

/// The watcher's process: runs until its rank has ended or left.
/// `rank_process`: a descriptor that is readable once the process has ended, or none.
[[noreturn]] void run_watcher(descriptor control, descriptor rank_process, pid_t pid,
                              activity& record);

}  // namespace creek::mpi_backend
