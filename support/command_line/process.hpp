// SPDX-License-Identifier: Apache-2.0
// Functions with which the programs of creek handle standard streams and signals.
#pragma once

#include <string_view>

namespace creek::command_line {

/// Call it first in main(). Keeps files from getting the number of a standard stream that is
/// closed, and turns SIGXFSZ into EFBIG, which is reported as any other failure to write.
void prepare_process() noexcept;

/// Flushes standard output. Returns 0, or an errno if any of it was lost.
int flush_output() noexcept;

/// Writes a line to standard error. If that is closed or full, the line is lost.
void print_error(std::string_view line) noexcept;

}  // namespace creek::command_line
