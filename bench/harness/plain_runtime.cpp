// SPDX-License-Identifier: Apache-2.0
// Peers without a runtime: plain C++, named by the build. One of them is the serial peer, the
// baseline and the reference for all answers.
#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return BENCH_PEER_NAME;
}
std::string peer_version() {
  return "C++ " __VERSION__;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
