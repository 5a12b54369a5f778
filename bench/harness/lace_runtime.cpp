// SPDX-License-Identifier: Apache-2.0
// The Lace peer: its name, and the version of its CMake package, since the header has none.
#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "lace";
}
std::string peer_version() {
  return "Lace " BENCH_PEER_VERSION;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
