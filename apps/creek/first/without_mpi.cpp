// SPDX-License-Identifier: Apache-2.0
// `creek wordcount --backend mpi` in a tool that is built without ranks on MPI.
#include <creek/core/error.hpp>

#include "wordcount/count.hpp"

namespace creek::tool {

int wordcount_on_ranks(const wordcount_arguments&) {
  throw usage_error("backend 'mpi' is not in this build: build the target creek_tool");
}

}  // namespace creek::tool
