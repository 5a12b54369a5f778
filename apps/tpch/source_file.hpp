// SPDX-License-Identifier: Apache-2.0
// A file that tables are read from, mapped.
#pragma once

#include <creek/mapreduce/mapped_file.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace creek::tpch {

/// How one version of a file is told from another.
struct file_stamp {
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// Throws creek::error if there is no such file.
[[nodiscard]] file_stamp stamp_of(const std::string& file);

/// A regular file, whole. Move only; reading is for any thread.
class source_file {
 public:
  /// Throws creek::error naming the file if it cannot be read.
  explicit source_file(const std::string& name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const file_stamp& stamp() const noexcept { return stamp_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return map_.text(); }
  void populate(std::string_view piece) const noexcept { map_.populate(piece); }

  /// Throws creek::error if some of it went missing: what was read of it is then void.
  void check_whole() const;

 private:
  std::string name_;
  file_stamp stamp_;
  mapreduce::mapped_file map_;  // of an empty file, nothing
};

}  // namespace creek::tpch
