// SPDX-License-Identifier: Apache-2.0
// Sequential reader of a file's bytes, with errors that name the file.
#pragma once

#include <creek/core/io/open_file.hpp>
#include <creek/linalg/matrix_file.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace creek::linalg::detail {

/// Buffered file or standard input (`-`). One thread; system errors throw creek::error.
class byte_source {
 public:
  /// Maximum number of bytes that peek() and line() can return at once.
  static constexpr std::size_t buffer_size = std::size_t{1} << 20;

  explicit byte_source(const std::string& name);

  const std::string& name() const noexcept { return file_.name(); }

  /// Returns the number of unread bytes, or nullopt for pipes and devices, where it is unknown.
  std::optional<std::uint64_t> remaining() const noexcept;

  /// Returns the next bytes without consuming them; fewer than requested only at the end of file.
  std::string_view peek(std::size_t bytes);

  /// Reads bytes and returns how many; fewer than requested only at the end of the file.
  std::size_t read(void* to, std::size_t bytes);

  /// Reads a line and returns it without its line end; nullopt at the end of the file. Valid until
  /// the next call. Throws `malformed` for a line longer than the buffer.
  std::optional<std::string_view> line();
  /// Returns the 1-based number of the line read last.
  std::uint64_t line_number() const noexcept { return line_number_; }

  /// Throws creek::error "NAME: what: fault"; fail_in_line() adds the number of the line.
  [[noreturn]] void fail(matrix_file_fault fault, const std::string& what) const;
  [[noreturn]] void fail_in_line(matrix_file_fault fault, const std::string& what) const;

 private:
  std::string_view buffered() const noexcept { return {buffer_.get() + begin_, end_ - begin_}; }
  bool fill();
  std::size_t read_some(char* to, std::size_t bytes);

  open_file file_;
  std::optional<std::uint64_t> unread_;  // bytes left in the descriptor, if known
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

/// Returns text of a file, shortened and without control characters, for a one-line message.
std::string quoted(std::string_view text);

}  // namespace creek::linalg::detail
