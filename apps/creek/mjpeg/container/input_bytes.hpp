// SPDX-License-Identifier: Apache-2.0
// The bytes of an input that is read once, from its beginning to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace creek::mjpeg {

/// Reads up to `bytes` bytes; 0 only at the end.
using read_function = std::function<std::size_t(char* to, std::size_t bytes)>;

class input_bytes {
 public:
  explicit input_bytes(read_function read) : read_(std::move(read)), buffer_(buffer_bytes, '\0') {}

  /// Returns the bytes that are in memory, at least `min` of them unless the input ends before;
  /// `min` is at most 128 KiB. Valid until the next call.
  std::string_view ahead(std::size_t min);
  /// Drops bytes that ahead() has returned.
  void drop(std::size_t bytes) { begin_ += bytes; }

  /// Takes up to `bytes` bytes; calls `take` with one piece after the other. Returns how many there
  /// were before the end.
  template <class Take>
  std::uint64_t take(std::uint64_t bytes, Take take) {
    std::uint64_t done = 0;
    while (done < bytes) {
      const std::string_view piece = ahead(1).substr(0, bytes - done);
      if (piece.empty()) break;
      take(piece);
      done += piece.size();
      drop(piece.size());
    }
    return done;
  }
  std::uint64_t skip(std::uint64_t bytes) {
    return take(bytes, [](std::string_view) {});
  }

  /// Returns how many bytes were dropped or taken.
  [[nodiscard]] std::uint64_t offset() const { return before_ + begin_; }

 private:
  static constexpr std::size_t buffer_bytes = 128 << 10;

  read_function read_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is in memory
  std::uint64_t before_ = 0;         // offset of the buffer's first byte
  bool ended_ = false;
};

}  // namespace creek::mjpeg
