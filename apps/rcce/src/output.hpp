// SPDX-License-Identifier: Apache-2.0
// Output of UEs: each line reaches standard output or standard error in one piece, even if several
// UEs print at once. Holds for stdio and for the streams of C++, not for write().
#pragma once

namespace creek::rcce {

/// Makes stdout, stderr, std::cout, std::cerr and std::clog collect lines for each of `ues` UEs,
/// until the process ends. Call it once.
void collect_lines(int ues);

/// Prints the unfinished line of this UE as a whole line.
void end_lines(int ue);

/// Returns the errno for which output was lost, or 0 if none was.
int output_failure() noexcept;

}  // namespace creek::rcce
