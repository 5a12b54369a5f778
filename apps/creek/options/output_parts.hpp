// SPDX-License-Identifier: Apache-2.0
// The option --output-parts of commands whose lines all ranks write.
#pragma once

#include <string>

#include "jobs/job_options.hpp"

namespace creek::tool {

/// Adds --output-parts beside --output. `folder` outlives the parse.
void add_output_parts(command_line::command& command, std::string& folder);

/// Throws usage_error for --output-parts without ranks, or with --output.
void refuse_output_parts(const command_line::command& command, const job_options& given);

}  // namespace creek::tool
