// SPDX-License-Identifier: Apache-2.0
#include <creek/core/error.hpp>

#include "measured_run.hpp"

namespace creek::tool::compare {

std::unique_ptr<runner> make_scc_runner(const setup&, long long) {
  throw usage_error("--backend scc: not in this build");
}

}  // namespace creek::tool::compare
