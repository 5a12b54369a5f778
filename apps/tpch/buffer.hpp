// SPDX-License-Identifier: Apache-2.0
// Memory of columns.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace creek::tpch {

/// Vector code reads whole words of 64 values, so every array of codes, in memory or in a file, is
/// followed by this many bytes that may be read and mean nothing.
inline constexpr std::size_t read_slack = 512;

/// `bytes` writable bytes and the slack, on a cache line border. Only the slack is cleared.
class buffer {
 public:
  buffer() = default;
  /// Throws std::bad_alloc.
  explicit buffer(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct release {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, release> data_;
  std::size_t size_ = 0;
};

}  // namespace creek::tpch
