// SPDX-License-Identifier: Apache-2.0
// Output of UEs: each line reaches standard output or standard error in one piece, even if several
// UEs print at once. Holds for stdio and for the streams of C++, not for write().
#pragma once

namespace creek::rcce {

/// From here to the end of the process stdout, stderr, std::cout, std::cerr and std::clog collect
/// lines for each of `ues` UEs. Call once.
void collect_lines(int ues);

/// Prints what this UE has begun of a line, as a line.
void end_lines(int ue);

/// Why output got lost: an errno, 0 for none.
int output_failure() noexcept;

}  // namespace creek::rcce
