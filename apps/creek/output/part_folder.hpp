// SPDX-License-Identifier: Apache-2.0
// A folder with a file of each rank; it appears whole or not at all.
#pragma once

#include <creek/core/io/atomic_file.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "jobs/rank_group.hpp"

namespace creek::tool {

/// The files are called part-00000, part-00001 ... by the number of the rank. Until commit() they
/// have no names, on file systems that have such files; else they are hidden files beside the
/// folder, whose names begin with `.FOLDER.PID.part-N` or `..FOLDER.PID.part-N`, and are left
/// behind only if a rank is killed. Every failure throws creek::error naming the folder; then it
/// does not exist, or is empty as before. All ranks call all functions, except the destructor.
class part_folder {
 public:
  /// Begins a folder that is missing or empty.
  part_folder(const std::string& target, rank_group& ranks);
  ~part_folder();
  part_folder(const part_folder&) = delete;
  part_folder& operator=(const part_folder&) = delete;

  /// Writes this rank's part: `lines(sink)` calls `sink(text)` for one piece after the other.
  template <class Lines>
  void write(Lines&& lines) {
    lines([this](std::string_view text) { file_->write(text); });
  }
  /// Puts the folder in place when all ranks have written their parts.
  void commit();

 private:
  void require_free() const;
  void require_one_folder();
  void agree(std::error_code mine, const char* doing);
  [[nodiscard]] std::error_code make_hidden_folder();
  void remove_hidden_folder();

  rank_group* ranks_;
  std::filesystem::path target_;
  std::filesystem::path hidden_;  // becomes the folder
  std::filesystem::path part_;    // name of this rank's file before it is in the folder
  std::optional<atomic_file> file_;
  bool is_named_ = false;  // hidden_ may exist
};

}  // namespace creek::tool
