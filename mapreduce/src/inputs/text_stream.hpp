// SPDX-License-Identifier: Apache-2.0
// Reads a file sequentially in pieces that cut no word, line or record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "byte_source.hpp"

namespace creek::mapreduce::detail {

/// Cuts the bytes of `source` into pieces that end between records, the last at the end.
class text_stream {
 public:
  /// Returns how many bytes of a text are whole records; 0 if it has no whole record.
  using cutter = std::function<std::size_t(std::string_view)>;

  text_stream(byte_source& source, cutter whole) : source_(&source), whole_(std::move(whole)) {}

  /// Returns the next bytes without consuming them: `bytes`, at most 512 KiB, or all that are left.
  [[nodiscard]] std::string_view peek(std::size_t bytes);

  /// Skips `bytes` bytes, or all remaining ones, and returns how many.
  [[nodiscard]] std::uint64_t skip(std::uint64_t bytes);

  /// From now on pieces end at the position that `whole` returns.
  void cut_by(cutter whole) { whole_ = std::move(whole); }

  /// Returns the next piece, valid until the next call; empty at the end. A record longer than the
  /// buffer makes the buffer grow.
  [[nodiscard]] std::string_view next();

 private:
  void fill();

  static constexpr std::size_t first_bytes = std::size_t{1} << 19;
  byte_source* source_;
  cutter whole_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // start of the bytes not returned yet
  std::size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace creek::mapreduce::detail
