// SPDX-License-Identifier: Apache-2.0
// Where a command's lines go: to a file that appears whole, or to standard output.
#pragma once

#include <cerrno>
#include <creek/core/atomic_file.hpp>
#include <creek/core/error.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace creek::tool {

class text_output {
 public:
  /// An empty name stands for standard output. Throws creek::error if the file cannot be made.
  explicit text_output(const std::string& name) {
    if (!name.empty()) file_.emplace(name);
  }
  void write(std::string_view text) {
    if (file_) {
      file_->write(text);
    } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      throw error(errno, "standard output");
    }
  }
  /// After all of it; without this call the file stays as it was.
  void done() {
    if (file_) file_->commit();
  }

 private:
  std::optional<atomic_file> file_;
};

}  // namespace creek::tool
