// SPDX-License-Identifier: Apache-2.0
// The libfork peer: its name and version.
#include <libfork/core/macro.hpp>

#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "libfork";
}
std::string peer_version() {
  return "libfork " + std::to_string(LF_VERSION_MAJOR) + "." + std::to_string(LF_VERSION_MINOR) +
         "." + std::to_string(LF_VERSION_PATCH);
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
