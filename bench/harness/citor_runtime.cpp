// SPDX-License-Identifier: Apache-2.0
// The citor peer: its name and version.
#include <citor/version.h>

#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "citor";
}
std::string peer_version() {
  return "citor " CITOR_VERSION_STRING;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
