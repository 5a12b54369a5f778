// SPDX-License-Identifier: Apache-2.0
// Compresses blocks, each into a bzip2 stream of its own. Streams that follow each other are a
// bzip2 file.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace creek::tool {

/// Returns how many bytes fit into one block of `level` * 100 kB for certain, unless they have runs
/// of exactly four equal bytes, of which bzip2 makes five. 19 bytes less, as libbz2 itself keeps.
[[nodiscard]] constexpr std::size_t block_bytes(int level) noexcept {
  return static_cast<std::size_t>(level) * 100'000 - 19;
}

class bzip2_workspace;

/// Compresses by libbz2 and keeps its memory, some 9 bytes per byte of a block, for the next block.
/// Several threads at once, each with a memory of its own.
class bzip2_compressor {
 public:
  /// `level` is 1 to 9.
  explicit bzip2_compressor(int level);
  ~bzip2_compressor();
  bzip2_compressor(const bzip2_compressor&) = delete;
  bzip2_compressor& operator=(const bzip2_compressor&) = delete;

  /// Returns the stream. Throws std::bad_alloc.
  [[nodiscard]] std::string operator()(std::string_view block);

 private:
  [[nodiscard]] std::unique_ptr<bzip2_workspace> take();
  void give_back(std::unique_ptr<bzip2_workspace> free);

  int level_;
  std::mutex lock_;
  std::vector<std::unique_ptr<bzip2_workspace>> free_;
};

}  // namespace creek::tool
