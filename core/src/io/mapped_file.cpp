// SPDX-License-Identifier: Apache-2.0
// Guarded mappings of files.
#include <creek/core/io/mapped_file.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <cstdint>
#include <utility>

#include "bus_guard.hpp"

namespace creek {

mapped_file::mapped_file(const open_file& file, std::size_t bytes) {
  if (bytes == 0) return;
  void* at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (at == MAP_FAILED) throw error(errno, file.name());
  text_ = {static_cast<const char*>(at), bytes};
  try {
    guard_ = detail::guard(at, bytes);
  } catch (...) {
    munmap(at, bytes);
    throw;
  }
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : text_(std::exchange(other.text_, {})), guard_(std::exchange(other.guard_, nullptr)) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(text_, other.text_);
  std::swap(guard_, other.guard_);
  return *this;
}

mapped_file::~mapped_file() {
  if (guard_ == nullptr) return;
  detail::unguard(guard_);
  munmap(const_cast<char*>(text_.data()), text_.size());
}

bool mapped_file::lost() const noexcept {
  return guard_ != nullptr && guard_->lost.load(std::memory_order_acquire);
}

void mapped_file::populate(std::string_view piece) const noexcept {
#ifdef MADV_POPULATE_READ
  constexpr std::uintptr_t page = 4096;  // a step below the real page size is refused, harmlessly
  const auto begin = reinterpret_cast<std::uintptr_t>(piece.data()) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(piece.data() + piece.size());
  // Affects only speed: if the kernel is too old or pages are missing, reading will show it.
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
#else
  (void)piece;
#endif
}

}  // namespace creek
