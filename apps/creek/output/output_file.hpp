// SPDX-License-Identifier: Apache-2.0
// A file that the user may have asked for. It is opened before the work begins, so that a name that
// cannot be written is reported before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <creek/core/io/atomic_file.hpp>

namespace creek::tool {

class output_file {
 public:
  /// Opens the file; an empty name means none. Throws creek::error if it cannot be made.
  explicit output_file(const std::string& name) {
    if (!name.empty()) file_.emplace(name);
  }
  /// Writes the whole text; without this call the file stays as it was.
  void write(std::string_view text) {
    if (!file_) return;
    file_->write(text);
    file_->commit();
  }

 private:
  std::optional<atomic_file> file_;
};

}  // namespace creek::tool
