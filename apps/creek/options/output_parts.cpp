// SPDX-License-Identifier: Apache-2.0
#include "output_parts.hpp"

#include "command_line/command.hpp"

namespace creek::tool {

void add_output_parts(command_line::command& command, std::string& folder) {
  command
      .add_option("--output-parts", folder,
                  "With --backend mpi: write these lines to FOLDER, a file for each rank")
      ->option_text("FOLDER");
}

void refuse_output_parts(const command_line::command& command, const job_options& given) {
  if (backend_name(given) != "mpi") refuse(command, {"--output-parts"}, "needs --backend mpi");
  if (command.count("--output") > 0) refuse(command, {"--output-parts"}, "not with --output");
}

}  // namespace creek::tool
