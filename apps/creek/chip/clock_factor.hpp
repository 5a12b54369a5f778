// SPDX-License-Identifier: Apache-2.0
// The number of cycles of a simulated core that one second of this machine's CPU time stands for:
// measured once by `creek scc calibrate`, kept in a file, used by --clock measured.
#pragma once

#include <string>
#include <vector>

namespace creek::tool {

/// One kernel whose work is counted: the cycles by core/charge.hpp, divided by the seconds of CPU
/// time that it takes here.
struct calibrated_kernel {
  std::string name;
  double cycles_a_second = 0;
};

struct calibration {
  std::vector<calibrated_kernel> kernels;
  double cycles_a_second = 0;  ///< geometric mean over the kernels
};

/// Measures for about `seconds` s of CPU time; the fastest repetition of each kernel counts.
calibration calibrate(double seconds);

/// Returns creek/clock.json in $XDG_CONFIG_HOME or ~/.config. Throws usage_error without a home.
std::string calibration_file();
/// Throws creek::error if the file cannot be written; does not follow a link in its place.
void save_calibration(const calibration& found);
/// Returns the saved factor. Throws usage_error, which says what to do, if none was saved, and
/// creek::error if the file cannot be read or is not a regular file.
double saved_calibration();

}  // namespace creek::tool
