// SPDX-License-Identifier: Apache-2.0
// Destination of a command's lines: a file that appears whole, or standard output.
#pragma once

#include <cerrno>
#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace creek::tool {

class text_output {
 public:
  /// Opens a file, or standard output for an empty name. Throws creek::error if that fails.
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
  /// Hands what was written to standard output to its reader; a file appears in done() only.
  void flush() {
    if (!file_ && std::fflush(stdout) != 0) throw error(errno, "standard output");
  }
  /// Call it after the last write; without this call the file stays as it was.
  void done() {
    if (file_) file_->commit();
  }

 private:
  std::optional<atomic_file> file_;
};

}  // namespace creek::tool
