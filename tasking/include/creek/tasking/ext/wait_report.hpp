// SPDX-License-Identifier: Apache-2.0
// A report of the suspended strands of a runtime.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/task_stack.hpp>
#include <creek/tasking/waiting.hpp>

namespace creek::ext {

/// A suspended strand, as its backend knows it.
struct suspended_strand {
  const char* task = nullptr;  ///< name of the kind of its innermost task; null: of run()
  wait_reason reason{""};
  std::chrono::nanoseconds waited{};
  const task_stack* stack = nullptr;  ///< null: tasks run on top of the wait
};

/// Suspended strands, and who knows which worker runs a strand.
struct suspended_strands {
  std::unique_ptr<suspended_strand[]> first;
  std::size_t count = 0;
  /// Returns the worker that runs the strand with the stack at that address, or -1.
  int (*worker_of)(const void* workers, std::uintptr_t stack) noexcept = nullptr;
  const void* workers = nullptr;
};

/// Report of what strands wait for. A derived class finds out who would end the waits; it is in use
/// from the first call of reason_to_follow().
class wait_report {
 public:
  explicit wait_report(suspended_strands&& found) noexcept : strands_(std::move(found)) {}
  wait_report(const wait_report&) = delete;
  wait_report& operator=(const wait_report&) = delete;
  virtual ~wait_report() = default;

  /// Looks at the waits. The strands must stay suspended until it returns, so it makes no texts.
  static std::unique_ptr<wait_report> make(suspended_strands&& found);
  /// Returns the report. The strands may have gone on by then.
  virtual std::vector<waiting_task> tasks();

 protected:
  suspended_strands strands_;
};

}  // namespace creek::ext
