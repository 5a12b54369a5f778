// SPDX-License-Identifier: Apache-2.0
// The error of a frame that cannot be decoded.
#pragma once

#include <stdexcept>

namespace creek::mjpeg {

/// Thrown for a frame that is damaged, or of a kind that is not supported; what() says why.
struct damaged_frame : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace creek::mjpeg
