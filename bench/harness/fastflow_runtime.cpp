// SPDX-License-Identifier: Apache-2.0
// The FastFlow peers: their names and version.
#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return BENCH_PEER_NAME;
}
std::string peer_version() {
  return "FastFlow " BENCH_PEER_VERSION;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
