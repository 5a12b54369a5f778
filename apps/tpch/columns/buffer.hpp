// SPDX-License-Identifier: Apache-2.0
// Memory of columns.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace creek::tpch {

/// Readable bytes without meaning that follow every array of codes, in memory or in a file, because
/// vector code reads whole words of 64 values.
inline constexpr std::size_t read_slack = 512;

/// Holds `bytes` writable bytes and the slack, aligned to a cache line. Only the slack is cleared.
class buffer {
 public:
  buffer() = default;
  /// Allocates the memory. Throws std::bad_alloc.
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
