// SPDX-License-Identifier: Apache-2.0
// An output file that all ranks of a run write, each its part; it appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "jobs/rank_group.hpp"

namespace creek::tool {

/// The parts follow each other in the order of the ranks. Rank 0 makes a nameless file in the
/// target's folder, which ranks on its machine open as a file of its process; if there are other
/// machines, or no nameless files, it has the name `.NAME.PID.part` meanwhile, which is left behind
/// only if a rank is killed. Every failure throws creek::error naming the file. Without commit()
/// the target stays as it was. All ranks call all functions, except the destructor.
class shared_file {
 public:
  /// Returns whether a file of this name can be written in parts. Pipes and devices cannot.
  [[nodiscard]] static bool is_for(const std::string& target, rank_group& ranks);

  /// Opens the file; follows symbolic links, and keeps the permissions of the old file.
  shared_file(const std::string& target, rank_group& ranks);
  ~shared_file();
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;

  /// Writes this rank's part: `lines(sink)` calls `sink(text)` for one piece after the other. It is
  /// called twice, first for the size of the part.
  template <class Lines>
  void write(Lines&& lines) {
    std::uint64_t bytes = 0;
    lines([&](std::string_view text) { bytes += text.size(); });
    begin(bytes);
    lines([&](std::string_view text) { append(text); });
    flush();
  }
  /// Gives the file its name when all ranks have written their parts.
  void commit();

 private:
  struct opened_file;

  void make();
  void open_as(const opened_file& first);
  void give_hidden_name();
  void begin(std::uint64_t bytes);
  void append(std::string_view text) {
    if (buffer_.size() + text.size() > buffer_bytes) flush();
    buffer_.append(text);
  }
  void flush();
  [[noreturn]] void fail(const char* doing) const;

  static constexpr std::size_t buffer_bytes = 256 << 10;

  rank_group* ranks_;
  std::filesystem::path target_;
  std::filesystem::path part_;  // the hidden name
  std::string buffer_;
  std::uint64_t offset_ = 0;
  int fd_ = -1;
  bool named_ = false;  // part_ exists
};

}  // namespace creek::tool
