// SPDX-License-Identifier: Apache-2.0
// The environment variables of creek, and a warning about those that are misspelt.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// Returns all variables that creek, its build and its tool read (docs/environment.md).
std::vector<std::string_view> environment_variables();

/// Returns the variable that `name` most likely means: `name` begins with CREEK_, is none of
/// creek's and differs from one of them by a letter, in long names by two. Letters may be missing,
/// too many, wrong or in exchanged places.
std::optional<std::string_view> variable_meant_by(std::string_view name);

/// Writes the name of each misspelt environment variable to standard error. Only the first call in
/// a process does. Any thread; as for getenv(), no thread may change the environment meanwhile.
void warn_of_misspelt_variables();

}  // namespace creek
