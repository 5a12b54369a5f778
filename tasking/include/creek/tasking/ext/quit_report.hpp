// SPDX-License-Identifier: Apache-2.0
// SIGQUIT as a request for a report of waits.
#pragma once

#include <string>

#include <creek/core/language.hpp>

namespace creek::ext {

class backend;

/// Returns a line about the runtime, and what runtime::waiting() returns as to_string() spells it.
std::string report_of(const backend& runtime);

/// Has SIGQUIT write report_of() to standard error for the life of this object. The first one in
/// the process installs a handler and starts a thread, which writes; the last one ends the thread
/// and restores the handler that was there before, unless another one was installed since. In a
/// child of fork(), the earlier handler is restored at once.
class quit_report {
 public:
  /// Does nothing if `wanted` is false. Throws error if the thread cannot be started.
  quit_report(const backend& runtime, bool wanted);
  ~quit_report();
  quit_report(const quit_report&) = delete;
  quit_report& operator=(const quit_report&) = delete;

 private:
  friend struct quit_reports;
  const backend& runtime_;
  const bool is_listed_;
  quit_report* next_ = nullptr;
};

}  // namespace creek::ext
