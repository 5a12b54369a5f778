// SPDX-License-Identifier: Apache-2.0
// The failure that ends a run of the simulation.
#pragma once

#include <exception>
#include <functional>
#include <utility>

namespace creek::scc_backend {

/// Keeps the first failure of a run. Once one is recorded, the run is aborted for ever.
class run_failure {
 public:
  /// Sets a function called with each failure before anything else happens, or null. Call it
  /// before the run.
  void when_failing(std::function<void(const std::exception_ptr&)> observer) {
    observer_ = std::move(observer);
  }
  void record(std::exception_ptr why) noexcept;
  bool aborted() const noexcept { return aborted_; }
  /// Throws creek::error (ECANCELED) if the run was aborted. For loops that neither park nor end.
  void throw_if_aborted() const;
  /// Throws the first failure if there is one; only the first call does.
  void rethrow();

 private:
  bool aborted_ = false;
  std::exception_ptr first_;
  std::function<void(const std::exception_ptr&)> observer_;
};

}  // namespace creek::scc_backend
