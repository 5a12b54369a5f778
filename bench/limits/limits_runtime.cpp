// SPDX-License-Identifier: Apache-2.0
// The peer "machine": no runtime, only the limits of the hardware and the kernel.
#include "harness/workload.hpp"

namespace bench {
std::string peer_name() {
  return "machine";
}
std::string peer_version() {
  return "C++ " __VERSION__;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
