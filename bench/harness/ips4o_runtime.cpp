// SPDX-License-Identifier: Apache-2.0
// The IPS4o peer: its name, and the commit of its sources, which have no version.
#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "ips4o";
}
std::string peer_version() {
  return "IPS4o, commit " BENCH_PEER_VERSION;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
