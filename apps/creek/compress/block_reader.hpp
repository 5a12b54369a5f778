// SPDX-License-Identifier: Apache-2.0
// Reads a file in blocks, without holding a worker while no bytes come.
#pragma once

#include <atomic>
#include <creek/core/io/open_file.hpp>
#include <creek/stream/port.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

namespace creek::tool {

/// Counts the blocks in memory.
class block_count {
 public:
  void add() noexcept {
    const std::size_t now = now_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::size_t max = max_.load(std::memory_order_relaxed);
    while (max < now && !max_.compare_exchange_weak(max, now, std::memory_order_relaxed)) {
    }
  }
  void remove() noexcept { now_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t max() const noexcept { return max_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> now_{0}, max_{0};
};

/// Bytes of the input.
struct input_block {
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
  [[nodiscard]] std::string_view text() const noexcept { return {bytes.get(), size}; }
  [[nodiscard]] std::size_t transfer_bytes() const noexcept { return sizeof *this + size; }
};

/// The source of a pipeline: a file in blocks of `block_bytes` bytes, the last one of fewer. While
/// no bytes come, its process waits, and its worker does other work; the end of the pipeline ends
/// the wait. Throws creek::error if the file cannot be read.
class block_reader {
 public:
  using item_type = input_block;

  /// `file` and `count` outlive the reader.
  block_reader(const open_file& file, std::size_t block_bytes, block_count& count)
      : file_(file), block_bytes_(block_bytes), count_(count) {}

  void operator()(stream::out<input_block>& to);

 private:
  [[nodiscard]] input_block read_block(stream::out<input_block>& to) const;

  const open_file& file_;
  std::size_t block_bytes_;
  block_count& count_;
};

}  // namespace creek::tool
