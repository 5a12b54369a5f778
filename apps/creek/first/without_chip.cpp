// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend scc` in a tool that is built without the simulator.
#include <creek/core/error.hpp>

#include "wordcount/count.hpp"

namespace creek::tool {

void wordcount_on_chip(const wordcount_arguments&) {
  throw usage_error("backend 'scc' is not in this build: build the target creek_tool");
}

}  // namespace creek::tool
