// SPDX-License-Identifier: Apache-2.0
// Options whose value is one of a few names.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::tool {

/// For transform(): turns a name into the number that its enumerator has; help and errors show the
/// names, in their order.
template <class E>
CLI::Validator one_of(std::vector<std::pair<std::string, E>> named) {
  std::vector<std::string> names;
  for (const auto& [name, value] : named) names.push_back(name);
  const std::string choice = fmt::format("{{{}}}", fmt::join(names, ","));
  return CLI::Validator(
      [choice, named = std::move(named)](std::string& given) -> std::string {
        for (const auto& [name, value] : named) {
          if (name != given) continue;
          given = std::to_string(static_cast<std::underlying_type_t<E>>(value));
          return {};
        }
        return fmt::format("{} not in {}", given, choice);
      },
      choice);
}

}  // namespace creek::tool
