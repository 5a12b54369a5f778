// SPDX-License-Identifier: Apache-2.0
// Manual pages and shell completion, made from the same description as --help.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace creek::command_line {

/// A command and the words that lead to it, the program's name first.
struct page {
  std::vector<std::string> words;
  const command* about;
  /// Operands that the synopsis shows after the options, as "PROGRAM [ARGUMENT]...", for a program
  /// that splits them off before it parses.
  std::string operands = {};
};

/// Returns the program and all commands below it, parents first, without those that --help does not
/// show.
[[nodiscard]] std::vector<page> pages_of(const command& program);

/// Returns the words joined by `separator`: "creek-bench-tasking".
[[nodiscard]] std::string name_of(const page& one, char separator);

/// Returns the manual page (section 1) in roff.
[[nodiscard]] std::string man_page(const page& one, const std::string& version);

[[nodiscard]] std::string bash_completion(const command& program);
[[nodiscard]] std::string zsh_completion(const command& program);
[[nodiscard]] std::string fish_completion(const command& program);

}  // namespace creek::command_line
