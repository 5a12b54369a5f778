// SPDX-License-Identifier: Apache-2.0
// Zeroed memory that is released all at once, in huge pages if the system has them.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Usable by any thread. Memory becomes resident when it is allocated, page by page; where the
/// system gives no huge pages, later memory when it is touched first.
class zero_pool {
 public:
  zero_pool() = default;
  zero_pool(const zero_pool&) = delete;
  zero_pool& operator=(const zero_pool&) = delete;
  ~zero_pool();

  /// Returns `bytes` zero bytes, aligned to 64, valid as long as the pool. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes);

 private:
  /// Returns memory and the size of its pages.
  std::pair<char*, std::size_t> take(std::size_t bytes);
  void grow();

  std::mutex lock_;
  std::vector<std::pair<void*, std::size_t>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace creek::mapreduce::detail
