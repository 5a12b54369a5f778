// SPDX-License-Identifier: Apache-2.0
// A mapped file that tables are read from.
#pragma once

#include <sys/types.h>

#include <creek/core/io/mapped_file.hpp>
#include <creek/core/io/open_file.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace creek::tpch {

/// Properties that tell one version of a file from another.
struct file_stamp {
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// Returns the stamp of a file. Throws creek::error if there is no such file.
[[nodiscard]] file_stamp stamp_of(const std::string& file);

/// A regular file, mapped whole. Move only; any thread may read. Other processes may write to the
/// file meanwhile: two reads of a byte may then differ, and pages that were cut off read as
/// zeros.
class source_file {
 public:
  /// Throws creek::error naming the file if it cannot be read or is not a regular one.
  explicit source_file(const std::string& name, symbolic_links links = symbolic_links::follow);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const file_stamp& stamp() const noexcept { return stamp_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return map_.text(); }
  void populate(std::string_view piece) const noexcept { map_.populate(piece); }

  /// Returns true if the file was written to or cut short since it was opened, by its size and its
  /// time of modification: whatever was read from it is then void.
  [[nodiscard]] bool has_changed() const noexcept;
  /// Throws creek::error if has_changed().
  void check_unchanged() const;

 private:
  std::string name_;
  file_stamp stamp_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  mapped_file map_;  // empty for an empty file
};

}  // namespace creek::tpch
