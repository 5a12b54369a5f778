// SPDX-License-Identifier: Apache-2.0
// The options that only some power policies have.
#pragma once

#include <algorithm>
#include <creek/core/error.hpp>
#include <string>
#include <vector>

#include "command_line/command.hpp"

namespace creek::tool {

/// Throws usage_error if --watts or --bound was given and none of `policies` uses it.
inline void refuse_without_policy(const command_line::command& command,
                                  const std::vector<std::string>& policies) {
  const auto refuse = [&](const char* option, const std::string& policy) {
    const auto is_it = [&](std::string name) {
      std::ranges::replace(name, '-', '_');
      return name == policy;
    };
    if (command.count(option) > 0 && std::ranges::none_of(policies, is_it)) {
      throw usage_error(std::string(option) + ": needs the policy " + policy);
    }
  };
  refuse("--watts", "power_cap");
  refuse("--bound", "slack_reduction");
}

}  // namespace creek::tool
