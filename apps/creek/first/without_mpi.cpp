// SPDX-License-Identifier: Apache-2.0
// `--backend mpi` in a tool that is built without ranks on MPI.
#include <creek/core/error.hpp>

#include "jobs/rank_group.hpp"
#include "wordcount/count.hpp"

namespace creek::tool {
namespace {

[[noreturn]] void refuse_ranks() {
  throw usage_error("backend 'mpi' is not in this build: build the target creek_tool");
}

}  // namespace

int on_ranks_of_mpi(function_ref<void(rank_group*)>) {
  refuse_ranks();
}

int wordcount_on_ranks(const command_line::command&, const wordcount_arguments&) {
  refuse_ranks();
}

}  // namespace creek::tool
