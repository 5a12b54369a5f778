// SPDX-License-Identifier: Apache-2.0
// A program as a shared object, loaded once for every UE so that each has globals of its own.
// Source: private copies of the object as in SMPI [Degomme 2017].
#pragma once

#include <string>
#include <vector>

#include "ue.hpp"

namespace creek::rcce {

/// One copy: the symbols that the run needs.
struct program_copy {
  int (*main)(int, char**) = nullptr;
  RCCE_COMM* world = nullptr;         ///< null: the program does not include RCCE.h
  RCCE_COMM* power_domain = nullptr;  ///< null: without power management
  program_style style;
};

/// Loads `count` copies, whose static constructors run. They stay until the process ends. Throws
/// usage_error if the file is no shared object, cannot be loaded or lacks RCCE_APP and main.
std::vector<program_copy> load_copies(const std::string& path, int count);

}  // namespace creek::rcce
