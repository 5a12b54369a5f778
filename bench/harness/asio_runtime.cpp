// SPDX-License-Identifier: Apache-2.0
// The Boost.Asio peer: its name and version.
#include <boost/asio/version.hpp>

#include "workload.hpp"

namespace bench {
std::string peer_name() {
  return "asio";
}
std::string peer_version() {
  return "Boost.Asio " + std::to_string(BOOST_ASIO_VERSION / 100'000) + "." +
         std::to_string(BOOST_ASIO_VERSION / 100 % 1000) + "." +
         std::to_string(BOOST_ASIO_VERSION % 100);
}
void prepare_environment(const settings&, char**) {}
}  // namespace bench
