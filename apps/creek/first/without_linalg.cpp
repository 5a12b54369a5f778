// SPDX-License-Identifier: Apache-2.0
// `creek info` in a tool that is built without dense linear algebra.
#include "info/linalg_facts.hpp"

namespace creek::tool {

linalg_facts look_at_linalg() {
  return {nullptr, "not in this build", "not in this build"};
}

}  // namespace creek::tool
