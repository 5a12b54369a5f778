// SPDX-License-Identifier: Apache-2.0
// Finds the place in the program's source for a return address.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace creek::scc_backend {

class debug_lines;

/// Reads the debugging information of the loaded modules, at the first question.
class symbols {
 public:
  symbols();
  ~symbols();
  symbols(const symbols&) = delete;
  symbols& operator=(const symbols&) = delete;

  /// Returns the call before this return address: "file:line function", innermost first, as many as
  /// were inlined there. Without line numbers "function+offset (module)", without a symbol
  /// "module+offset". The same in every run of the same program.
  [[nodiscard]] std::vector<std::string> describe(std::uintptr_t return_address);

 private:
  std::unique_ptr<debug_lines> lines_;
};

}  // namespace creek::scc_backend
