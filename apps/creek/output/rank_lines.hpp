// SPDX-License-Identifier: Apache-2.0
// Lines that all ranks of a run write: into one file, or each into a file in a folder.
#pragma once

#include <optional>
#include <string>

#include "jobs/rank_group.hpp"
#include "part_folder.hpp"
#include "shared_file.hpp"

namespace creek::tool {

/// All ranks call all functions. Throws what shared_file and part_folder throw.
class rank_lines {
 public:
  /// Returns whether all ranks write `file` or `folder`; empty names stand for nothing to write.
  [[nodiscard]] static bool is_for(const std::string& file, const std::string& folder,
                                   rank_group& ranks) {
    return !folder.empty() || (!file.empty() && shared_file::is_for(file, ranks));
  }

  /// Opens one of them, if there is one.
  rank_lines(const std::string& file, const std::string& folder, rank_group& ranks) {
    if (!folder.empty()) {
      folder_.emplace(folder, ranks);
    } else if (!file.empty()) {
      file_.emplace(file, ranks);
    }
  }

  /// Writes the lines of this rank and puts those of all ranks in place: `lines(sink)` calls
  /// `sink(text)` for one piece after the other, and may be called twice.
  template <class Lines>
  void write(Lines&& lines) {
    if (folder_) {
      folder_->write(lines);
      folder_->commit();
    } else if (file_) {
      file_->write(lines);
      file_->commit();
    }
  }

 private:
  std::optional<shared_file> file_;
  std::optional<part_folder> folder_;
};

}  // namespace creek::tool
