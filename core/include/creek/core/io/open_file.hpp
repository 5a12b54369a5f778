// SPDX-License-Identifier: Apache-2.0
// File open for reading, with its name for messages.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <creek/core/language.hpp>

namespace creek {

/// Whether to follow a symbolic link to its target.
enum class symbolic_links : unsigned char { follow, refuse };

/// Open descriptor, closed by the destructor. All failures throw creek::error "NAME: why".
class open_file {
 public:
  /// Opens `name` for reading; "-" is standard input.
  explicit open_file(const std::string& name);
  /// Opens a regular file and refuses anything else, without blocking: a pipe may have no other end
  /// yet, and opening a device may have effects. For files found in a directory rather than named
  /// by the user.
  open_file(const std::string& name, symbolic_links links);
  open_file(open_file&& other) noexcept
      : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  open_file& operator=(open_file&&) = delete;
  ~open_file();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Reads up to `bytes` bytes from the current position; 0 only at the end of the file.
  [[nodiscard]] std::size_t read(char* to, std::size_t bytes) const;

 private:
  open_file(std::string name, int descriptor);

  std::string name_;
  int descriptor_;
};

}  // namespace creek
