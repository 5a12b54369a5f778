// SPDX-License-Identifier: Apache-2.0
// The TooManyCooks peer: its name and version, and the one source that compiles the library.
#define TMC_IMPL
#include "toomanycooks_runtime.hpp"

#include <tmc/version.hpp>

namespace bench {
std::string peer_name() {
  return "toomanycooks";
}
std::string peer_version() {
  return "TooManyCooks " + std::to_string(TMC_VERSION_MAJOR) + "." +
         std::to_string(TMC_VERSION_MINOR) + "." + std::to_string(TMC_VERSION_PATCH);
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
