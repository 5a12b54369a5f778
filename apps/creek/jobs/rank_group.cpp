// SPDX-License-Identifier: Apache-2.0
#include "rank_group.hpp"

#include <algorithm>
#include <creek/core/error.hpp>
#include <string>
#include <vector>

namespace creek::tool {

int on_ranks_if_asked(const job_options& given, function_ref<void(rank_group*)> command) {
  if (backend_name(given) != "mpi") {
    command(nullptr);
    return 0;
  }
  require_input_of_all_ranks(given);
  (void)scheduling(given);
  return on_ranks_of_mpi(command);
}

void require_input_of_all_ranks(const job_options& given) {
  const std::vector<std::string> names = input_names(given);
  if (names.size() > 1 && std::ranges::find(names, "-") != names.end()) {
    throw usage_error(
        "-: only rank 0 has a standard input; with --backend mpi it must be the only input");
  }
}

}  // namespace creek::tool
