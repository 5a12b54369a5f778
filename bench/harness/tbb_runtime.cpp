// SPDX-License-Identifier: Apache-2.0
// The oneTBB peer: its name and the version of the library that is loaded.
#include <oneapi/tbb/version.h>

#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "tbb";
}
std::string peer_version() {
  return std::string("oneTBB ") + TBB_runtime_version();
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
