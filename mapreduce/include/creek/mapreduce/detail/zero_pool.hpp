// SPDX-License-Identifier: Apache-2.0
// Zeroed memory that is given back all at once, from huge pages where the system has them.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Any thread. Memory is resident only from the first touch on, in steps of a (huge) page.
class zero_pool {
 public:
  zero_pool() = default;
  zero_pool(const zero_pool&) = delete;
  zero_pool& operator=(const zero_pool&) = delete;
  ~zero_pool();

  /// `bytes` zero bytes on a border of 64, valid as long as the pool. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes);

 private:
  void grow();

  std::mutex lock_;
  std::vector<std::pair<void*, std::size_t>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace creek::mapreduce::detail
