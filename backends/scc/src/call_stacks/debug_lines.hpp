// SPDX-License-Identifier: Apache-2.0
// The debugging information of this process, read by libdw.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace creek::scc_backend {

/// An address of code, with all that is known about it.
struct code_place {
  std::vector<std::string> calls;  ///< "file:line function", innermost first; empty without lines
  std::string module;              ///< file; empty: no module is known to hold the address
  std::uintptr_t module_offset = 0;
  std::string function;  ///< as the linker knows it; empty without a symbol
  std::uintptr_t function_offset = 0;
};

/// Knows source lines and all functions of the modules that were loaded when it was opened.
class debug_lines {
 public:
  virtual ~debug_lines() = default;
  virtual code_place find(std::uintptr_t address) = 0;

  /// Loads libdw, which stays loaded. Returns nullptr if creek was built without its headers, or if
  /// this machine does not have it.
  static std::unique_ptr<debug_lines> open();
};

}  // namespace creek::scc_backend
