// SPDX-License-Identifier: Apache-2.0
// The serial peer: plain C++ without any runtime, the baseline and the oracle of all answers.
#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "serial";
}
std::string peer_version() {
  return "C++ " __VERSION__;
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
