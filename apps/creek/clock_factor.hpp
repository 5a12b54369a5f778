// SPDX-License-Identifier: Apache-2.0
// How many cycles of a simulated core a second of this machine's computing stands for: measured
// once by `creek scc calibrate`, kept in a file, used by --clock measured.
#pragma once

#include <string>
#include <vector>

namespace creek::tool {

/// One kernel whose work is counted: the cycles that core/charge.hpp says, by the seconds of CPU
/// time that it takes here.
struct calibrated_kernel {
  std::string name;
  double cycles_a_second = 0;
};

struct calibration {
  std::vector<calibrated_kernel> kernels;
  double cycles_a_second = 0;  ///< their geometric mean
};

/// Measures for about `seconds` seconds of CPU time; the fastest repetition of each kernel counts.
calibration calibrate(double seconds);

/// `creek/clock.json` in $XDG_CONFIG_HOME, or in ~/.config. Throws usage_error without a home.
std::string calibration_file();
/// Throws creek::error if the file cannot be written; a link in its place is not followed.
void save_calibration(const calibration& found);
/// Returns what was saved. Throws usage_error that says what to do if nothing was, creek::error if
/// the file cannot be read or is no regular file.
double saved_calibration();

}  // namespace creek::tool
