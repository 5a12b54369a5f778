// SPDX-License-Identifier: Apache-2.0
// The environment variables of creek, and a warning about those that are misspelt.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek {

/// All variables that creek, its build and its tool read (docs/environment.md).
std::span<const std::string_view> environment_variables() noexcept;

/// The variable that `name` most likely stands for: `name` begins with CREEK_, is none of creek's
/// and differs from one of them by a letter, in long names by two. Letters may be missing, too
/// many, wrong or in exchanged places.
std::optional<std::string_view> variable_meant_by(std::string_view name);

/// Names each variable of the environment that is misspelt on standard error. Only the first call
/// in a process does. Any thread, but as for getenv() none that changes the environment meanwhile.
void warn_of_misspelt_variables();

}  // namespace creek
