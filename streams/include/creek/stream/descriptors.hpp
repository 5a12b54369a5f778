// SPDX-License-Identifier: Apache-2.0
// Sources and sinks for files, pipes, sockets and terminals. Their waits keep no worker.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include <creek/core/function_ref.hpp>
#include <creek/core/io/open_file.hpp>
#include <creek/stream/port.hpp>

namespace creek::stream {

namespace detail {

/// A descriptor of the program, or a file that this opens, with its name for messages.
class descriptor_or_file {
 public:
  explicit descriptor_or_file(int descriptor)
      : descriptor_(descriptor), name_("descriptor " + std::to_string(descriptor)) {}
  explicit descriptor_or_file(const std::string& file)
      : file_(file), descriptor_(file_->descriptor()), name_(file_->name()) {}
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::optional<open_file> file_;
  int descriptor_;
  std::string name_;
};

/// Calls a function that waits, with the token that ends the wait.
using wait_call = function_ref<void(function_ref<void(const std::stop_token&)>)>;

/// Reads what there is, at least a byte unless the end has come; returns the number of bytes, 0
/// also after a stop. Waits by `wait`. Throws error.
[[nodiscard]] std::size_t read_some(int descriptor, const std::string& name, std::span<char> to,
                                    wait_call wait);

/// Waits for something else than a channel, in the process of this port.
template <class Port>
auto waiting_in(Port& port) {
  return [&port](function_ref<void(const std::stop_token&)> wait) {
    port.wait_elsewhere([&] { wait(port.early_end()); });
  };
}

}  // namespace detail

/// Reads from a file, pipe, socket or terminal, for a process that has `port`: at least a byte, as
/// many as there are. Returns their number; 0 at the end, and once the network ends early. A file
/// that is not in memory is read by a thread that is no worker (blocking()); for other descriptors
/// the process waits (wait_readable()). Throws error, with the name, if the read fails. Nobody else
/// reads a descriptor that may block. `from` is an open_file, or has its descriptor() and name().
template <class File, class Port>
[[nodiscard]] std::size_t read_some(const File& from, std::span<char> to, Port& port) {
  return detail::read_some(from.descriptor(), from.name(), to, detail::waiting_in(port));
}

/// A source: the bytes of the same, as they come, up to `max_bytes` at a time.
class read_blocks {
 public:
  using item_type = std::string;
  static constexpr std::size_t usual_bytes = std::size_t{64} << 10;

  /// Reads a descriptor, which stays open and belongs to the caller.
  explicit read_blocks(int descriptor, std::size_t max_bytes = usual_bytes);
  /// Opens a file; "-" is standard input. Throws error.
  explicit read_blocks(const std::string& file, std::size_t max_bytes = usual_bytes);

  void operator()(out<std::string>& to);

 private:
  detail::descriptor_or_file from_;
  std::size_t max_bytes_;
};

/// A source: the lines of the same, without their ends ("\n"). The last one may have none. Throws
/// error (EMSGSIZE), with the number of the line, if a line is longer than `max_bytes`.
class read_lines {
 public:
  using item_type = std::string;
  static constexpr std::size_t usual_bytes = std::size_t{16} << 20;

  explicit read_lines(int descriptor, std::size_t max_bytes = usual_bytes);
  explicit read_lines(const std::string& file, std::size_t max_bytes = usual_bytes);

  void operator()(out<std::string>& to);

 private:
  void write_lines_in(std::string_view bytes, std::string& line, out<std::string>& to) const;
  void require_room(std::size_t bytes, const out<std::string>& to) const;

  detail::descriptor_or_file from_;
  std::size_t max_bytes_;
};

/// A sink: writes strings to a descriptor, which stays open and belongs to the caller, each with
/// `behind` after it. While a pipe or socket is full, the process waits (wait_writable()). Throws
/// error if a write fails; a program that writes to pipes ignores SIGPIPE to see that.
class write_strings {
 public:
  explicit write_strings(int descriptor, std::string behind = "");

  void operator()(in<std::string>& from);

 private:
  int descriptor_;
  std::string behind_;
};

}  // namespace creek::stream
