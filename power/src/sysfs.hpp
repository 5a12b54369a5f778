// SPDX-License-Identifier: Apache-2.0
// Small files through which Linux describes and controls devices: one decimal value or a few words
// each. Finds their directory (CREEK_SYSFS), and reads and writes them strictly: an errno tells
// what went wrong, and text that is not a value is never taken for one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::power::sysfs {

/// Returns the directory to use as /sys: the one that CREEK_SYSFS names, else /sys itself, without
/// a trailing slash. Throws usage_error if the variable does not name a directory.
[[nodiscard]] std::string root();

/// First line of a file without surrounding blanks, or the reason why there is none.
struct line {
  std::string text;
  int error = 0;  ///< an errno; 0: read, though it may be empty

  explicit operator bool() const noexcept { return error == 0; }
};
[[nodiscard]] line read_line(const std::string& path);

/// Non-negative integer, or the reason why there is none.
struct number {
  std::uint64_t value = 0;
  int error = 0;  ///< an errno; ENODATA: the file is empty; EINVAL: it holds no number

  explicit operator bool() const noexcept { return error == 0; }
};
[[nodiscard]] number read_number(const std::string& path);
/// Parses the first line of `text` by the rules of `number`.
[[nodiscard]] number parse_number(std::string_view text) noexcept;

/// Returns the words of a text, such as a list of clocks.
[[nodiscard]] std::vector<std::string> words(std::string_view text);

/// Parses numbers and ranges separated by blanks or commas: "0 1 2", "0-3,8"; empty if invalid.
[[nodiscard]] std::vector<int> parse_cpus(std::string_view text);

/// Returns the names in a directory that begin with `prefix`, policy2 before policy10; empty if the
/// directory cannot be read.
[[nodiscard]] std::vector<std::string> entries(const std::string& folder, std::string_view prefix);

/// Returns "cannot DOING PATH: REASON", worded also for files that exist but are unusable.
[[nodiscard]] std::string why(std::string_view doing, const std::string& path, int error);

/// File that is kept open for frequent reads or writes: one system call each, no allocation, from
/// any thread and from signal handlers.
class file {
 public:
  file() = default;
  /// `flags` are those of open(2): O_RDONLY, O_WRONLY. Does not throw; see error().
  file(const std::string& path, int flags) noexcept;
  file(file&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), error_(std::exchange(other.error_, 0)) {}
  file& operator=(file&& other) noexcept;
  ~file();

  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Returns why the file is not open, as an errno.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] int descriptor() const noexcept { return fd_; }

  /// Reads the number that the file holds now.
  [[nodiscard]] number read_number() const noexcept;
  /// Reads the first line into `into`, like read_line(); returns 0 or an errno.
  int read_line(std::span<char> into, std::string_view& line) const noexcept;
  /// Writes all of `text` from the start of the file; returns 0 or an errno.
  int write(std::string_view text) const noexcept;

 private:
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace creek::power::sysfs
