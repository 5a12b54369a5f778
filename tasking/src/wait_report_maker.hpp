// SPDX-License-Identifier: Apache-2.0
// The function that makes reports of waits, if a wait needs more than a plain one.
#pragma once

#include <atomic>

#include <creek/tasking/ext/wait_report.hpp>

namespace creek::ext {

/// Null: no wait was worth following, and the report is plain. Set by reason_to_follow(), so that
/// only programs with such waits are linked with what follows them.
inline constinit std::atomic<decltype(&wait_report::make)> wait_report_maker{nullptr};

}  // namespace creek::ext
