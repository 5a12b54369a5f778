// SPDX-License-Identifier: Apache-2.0
// An output file that appears whole or not at all: results, traces, reports.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek {

/// Collects output in a nameless file in the target's folder and gives it the target's name in
/// commit(); a destructor without commit() leaves the old file, or none. A program killed in
/// between leaves nothing behind either (on file systems with O_TMPFILE; else a file
/// `.NAME.PID.N.part`). A target that exists and is not a regular file (a pipe, /dev/stdout) is
/// written directly. One thread. Every failure throws creek::error naming the file.
class atomic_file {
 public:
  /// Kinds of file that an existing target may be.
  enum class targets : unsigned char {
    any,      ///< for names that the user gave: links, pipes and devices, too
    regular,  ///< for names that the program chose: nothing but a regular file is replaced
  };

  /// Opens the output; follows symbolic links, so that commit() replaces what they point to, or
  /// refuses them. The new file has the permissions of the one that it replaces, else those that
  /// umask leaves.
  explicit atomic_file(const std::filesystem::path& target, targets may_be = targets::any);
  ~atomic_file();
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  /// Appends `bytes`; buffered (64 KiB), so errors may come with a later call.
  void write(std::string_view bytes);

  /// Writes the rest to the disk, without a name for it. For several processes that make files
  /// together: no file has a name, which would stay behind, before all are written. No write() may
  /// follow it.
  void sync();

  /// Writes the rest, so that commit() only has to rename. For several files that appear together:
  /// call it on each before the first commit(). No write() may follow it.
  void prepare();

  /// Puts the file in place, prepared or not. Call it at most once, as the last call.
  void commit();

 private:
  void open_direct();
  void open_hidden();
  void flush();
  void write_out(std::string_view bytes);
  void give_hidden_name();
  [[noreturn]] void fail(const char* doing) const;

  std::filesystem::path target_;
  std::filesystem::path part_;  // the temporary name while there is one
  std::string buffer_;
  int fd_ = -1;
  bool direct_ = false;
  bool named_ = false;     // part_ exists in the folder
  bool synced_ = false;    // all bytes are in the file, and on the disk
  bool prepared_ = false;  // ... and the file has a name
};

}  // namespace creek
