// SPDX-License-Identifier: Apache-2.0
// The version, handed in by the build from the one place that has it, project() in CMake.
#include <creek/core/version.hpp>

namespace creek {

const char* version() noexcept {
  return CREEK_VERSION;
}

}  // namespace creek
