// SPDX-License-Identifier: Apache-2.0
// The small files by which Linux tells of its devices and takes orders: one value each, in decimal
// or a few words. Where they are (CREEK_SYSFS), and reading and writing them without surprises: an
// errno says what went wrong, and what is not a value is never taken for one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::power::sysfs {

/// The folder to use in place of /sys: what CREEK_SYSFS names, else /sys itself, without a slash at
/// the end. Throws usage_error if the variable does not name a folder.
[[nodiscard]] std::string root();

/// The first line of a file without the blanks around it, or why there is none.
struct line {
  std::string text;
  int error = 0;  ///< an errno; 0: read, though it may be empty

  explicit operator bool() const noexcept { return error == 0; }
};
[[nodiscard]] line read_line(const std::string& path);

/// A whole number, not negative.
struct number {
  std::uint64_t value = 0;
  int error = 0;  ///< an errno; ENODATA: the file is empty; EINVAL: it holds something else

  explicit operator bool() const noexcept { return error == 0; }
};
[[nodiscard]] number read_number(const std::string& path);
/// Parses the first line of `text`, by the same rules.
[[nodiscard]] number parse_number(std::string_view text) noexcept;

/// The words of a text, such as a list of clocks.
[[nodiscard]] std::vector<std::string> words(std::string_view text);

/// Numbers and ranges, with blanks or commas between: "0 1 2", "0-3,8"; empty for anything else.
[[nodiscard]] std::vector<int> parse_cpus(std::string_view text);

/// Names in a folder that begin with `prefix`, so that policy2 comes before policy10; none if the
/// folder cannot be read.
[[nodiscard]] std::vector<std::string> entries(const std::string& folder, std::string_view prefix);

/// "cannot DOING PATH: REASON", in words that fit a file that is there but useless, too.
[[nodiscard]] std::string why(std::string_view doing, const std::string& path, int error);

/// A file that is held open, for those who read or write it often: one system call each, no
/// allocation, from any thread and from a handler of signals.
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
