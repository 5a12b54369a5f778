// SPDX-License-Identifier: Apache-2.0
// Writes several files, with names that the tool chose, in a folder that the user gave.
#pragma once

#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace creek::tool {

class folder_output {
 public:
  /// Makes the folder if it is missing. Throws creek::error.
  explicit folder_output(const std::string& folder) : folder_(folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) throw error(failed, folder);
  }
  /// Writes a file that commit() puts in place if the name is free or a regular file; throws
  /// creek::error if it is anything else, such as a link.
  void write(const std::string& name, std::string_view text) {
    files_.emplace_back(folder_ / name, atomic_file::targets::regular).write(text);
  }
  /// Puts all files in place, or none if one of them cannot be written.
  void commit() {
    for (atomic_file& each : files_) each.prepare();
    for (atomic_file& each : files_) each.commit();
  }

 private:
  std::filesystem::path folder_;
  std::deque<atomic_file> files_;
};

}  // namespace creek::tool
