// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, front to back, with errors that name it.
#pragma once

#include <creek/linalg/matrix_file.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace creek::linalg::detail {

/// A file or standard input (`-`), buffered. One thread; errors of the system throw creek::error.
class byte_source {
 public:
  /// Bytes that peek() and line() can hold at once.
  static constexpr std::size_t buffer_size = std::size_t{1} << 20;

  explicit byte_source(std::string name);
  ~byte_source();
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Bytes not taken yet; none for pipes and devices, where only reading tells.
  std::optional<std::uint64_t> remaining() const noexcept;

  /// The next bytes without taking them: fewer than asked for only at the end of the file.
  std::string_view peek(std::size_t bytes);

  /// Takes bytes; returns how many there were, fewer than asked for only at the end of the file.
  std::size_t read(void* to, std::size_t bytes);

  /// Takes a line and gives it without its end; none at the end of the file. Valid until the next
  /// call. A line longer than the buffer is malformed.
  std::optional<std::string_view> line();
  /// The number of the line taken last, from 1.
  std::uint64_t line_number() const noexcept { return line_number_; }

  /// Throws creek::error: "NAME: what: fault", and with the number of the line.
  [[noreturn]] void fail(matrix_file_fault fault, const std::string& what) const;
  [[noreturn]] void fail_in_line(matrix_file_fault fault, const std::string& what) const;

 private:
  std::string_view buffered() const noexcept { return {buffer_.get() + begin_, end_ - begin_}; }
  bool fill();
  std::size_t read_some(char* to, std::size_t bytes);

  std::string name_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> unread_;  // in the descriptor, if known
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::uint64_t line_number_ = 0;
};

/// Text of a file for a message of one line: short, and nothing that a terminal would obey.
std::string quoted(std::string_view text);

}  // namespace creek::linalg::detail
