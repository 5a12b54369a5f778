// SPDX-License-Identifier: Apache-2.0
// Zeroed memory of which only the pages that were written cost memory: for tables that are large,
// addressed by number and mostly untouched.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <type_traits>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

template <class T>
requires std::is_trivially_copyable_v<T>
class zeroed_memory {
 public:
  /// Throws creek::error if the system refuses the address space.
  explicit zeroed_memory(std::size_t count) : bytes_{count * sizeof(T)} {
    if (bytes_ == 0) return;
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      throw error(errno, "simulated chip: cannot reserve " + std::to_string(bytes_) + " bytes");
    }
    first_ = static_cast<T*>(mapped);
  }
  ~zeroed_memory() {
    if (first_ != nullptr) munmap(first_, bytes_);
  }
  zeroed_memory(const zeroed_memory&) = delete;
  zeroed_memory& operator=(const zeroed_memory&) = delete;

  T* get() const noexcept { return first_; }
  T& operator[](std::size_t i) const noexcept { return first_[i]; }

 private:
  std::size_t bytes_;
  T* first_ = nullptr;
};

}  // namespace creek::scc_backend
