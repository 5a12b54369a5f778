// SPDX-License-Identifier: Apache-2.0
// Reads a file in blocks ahead of their use, without holding a worker while no bytes come.
#pragma once

#include <algorithm>
#include <atomic>
#include <creek/core/io/open_file.hpp>
#include <creek/tasking/channel.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

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
};

/// Reads the file from a thread of its own into a channel for one block, or, without a thread, when
/// a block is asked for. Each block but the last has `block_bytes` bytes. One consumer.
class block_reader {
 public:
  /// `file` and `count` outlive the reader.
  block_reader(const open_file& file, std::size_t block_bytes, bool in_thread, block_count& count);
  /// Stops the thread, also while it waits for bytes.
  ~block_reader();
  block_reader(const block_reader&) = delete;
  block_reader& operator=(const block_reader&) = delete;

  /// Returns the next block, or nothing at the end. Suspends the strand while there is none. Throws
  /// creek::error if the file cannot be read.
  [[nodiscard]] std::optional<input_block> next();
  /// Returns f(). If that throws, the file ends here, also for a strand that waits in next(). Any
  /// thread.
  template <class F>
  auto or_stop(F f) {
    try {
      return f();
    } catch (...) {
      blocks_.close();
      throw;
    }
  }

 private:
  [[nodiscard]] std::optional<input_block> read_block();
  [[nodiscard]] bool wait_for_bytes() const;
  void read_all() noexcept;

  const open_file& file_;
  std::size_t block_bytes_;
  block_count& count_;
  channel<input_block, spsc> blocks_{1};
  int stop_[2] = {-1, -1};  // a pipe, closed to stop the thread
  std::thread thread_;
};

}  // namespace creek::tool
