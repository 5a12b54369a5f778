// SPDX-License-Identifier: Apache-2.0
// Allocates message-passing memory. Every core makes the same calls in the same order on an
// allocator of its own and so gets the same offsets, without a message: an offset names one block
// per core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

class symmetric_allocator;

/// Observes, for checkers, what an allocator hands out and gets back on the calling core.
class allocation_observer {
 public:
  virtual void allocated(std::size_t offset, std::size_t bytes, const char* name) noexcept = 0;
  virtual void released(std::size_t offset, std::size_t bytes) noexcept = 0;

 protected:
  ~allocation_observer() = default;
};

/// A block of message-passing memory: the same offset in the memory of each core. Freed when
/// destroyed. Move-only; must not outlive its allocator.
class mpm_block {
 public:
  mpm_block() noexcept = default;
  mpm_block(mpm_block&& other) noexcept
      : from_{std::exchange(other.from_, nullptr)}, offset_{other.offset_}, bytes_{other.bytes_} {}
  mpm_block& operator=(mpm_block&& other) noexcept {
    std::swap(from_, other.from_);
    std::swap(offset_, other.offset_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  inline ~mpm_block();

  /// Return the block's offset in each core's memory, and its length (whole lines).
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  explicit operator bool() const noexcept { return from_ != nullptr; }

 private:
  friend class symmetric_allocator;
  mpm_block(symmetric_allocator& from, std::size_t offset, std::size_t bytes) noexcept
      : from_{&from}, offset_{offset}, bytes_{bytes} {}

  symmetric_allocator* from_ = nullptr;
  std::size_t offset_ = 0;
  std::size_t bytes_ = 0;
};

/// Allocates, first fit, lines of a range of message-passing memory. Belongs to one core; its
/// bookkeeping is in private memory. For blocks that only one core makes, use a second allocator
/// over another range, since one call more on one core breaks the symmetry.
class symmetric_allocator {
 public:
  /// Manages `bytes` from offset `first` on; both whole lines.
  symmetric_allocator(std::size_t first, std::size_t bytes, std::size_t line_bytes)
      : first_{first}, line_bytes_{line_bytes}, used_(bytes / line_bytes) {}
  symmetric_allocator(const symmetric_allocator&) = delete;
  symmetric_allocator& operator=(const symmetric_allocator&) = delete;

  /// Sets the observer of all later calls, or none if null. It must outlive the allocator.
  void observe(allocation_observer* observer) noexcept { observer_ = observer; }

  /// Returns a block of at least `bytes` (at least one line), or nothing if no gap is long enough.
  /// Reads up to all lines; never throws. `name` says in reports what the block is for.
  [[nodiscard]] std::optional<mpm_block> allocate(std::size_t bytes,
                                                  const char* name = "") noexcept {
    const std::size_t whole = bytes / line_bytes_ + (bytes % line_bytes_ != 0 ? 1 : 0);
    const std::size_t lines = std::max<std::size_t>(1, whole);
    std::size_t gap = 0;
    for (std::size_t line = 0; line < used_.size(); ++line) {
      gap = used_[line] != 0 ? 0 : gap + 1;
      if (gap == lines) {
        const std::size_t begin = line + 1 - lines;
        mark(begin, lines, 1);
        if (observer_ != nullptr) {
          observer_->allocated(first_ + begin * line_bytes_, lines * line_bytes_, name);
        }
        return mpm_block{*this, first_ + begin * line_bytes_, lines * line_bytes_};
      }
    }
    return std::nullopt;
  }

  /// Returns the block of at least `bytes` that begins at offset `place`, a whole line of the
  /// range, or nothing if a part of it is handed out or outside the range.
  [[nodiscard]] std::optional<mpm_block> allocate_at(std::size_t place, std::size_t bytes,
                                                     const char* name = "") noexcept {
    const std::size_t lines = std::max<std::size_t>(1, (bytes + line_bytes_ - 1) / line_bytes_);
    if (place < first_ || (place - first_) / line_bytes_ + lines > used_.size())
      return std::nullopt;
    const std::size_t begin = (place - first_) / line_bytes_;
    const auto from = used_.begin() + static_cast<std::ptrdiff_t>(begin);
    if (std::any_of(from, from + static_cast<std::ptrdiff_t>(lines),
                    [](std::uint8_t used) { return used != 0; })) {
      return std::nullopt;
    }
    mark(begin, lines, 1);
    if (observer_ != nullptr) observer_->allocated(place, lines * line_bytes_, name);
    return mpm_block{*this, place, lines * line_bytes_};
  }

  /// Returns the number of bytes not handed out, in all gaps together.
  [[nodiscard]] std::size_t free_bytes() const noexcept {
    return static_cast<std::size_t>(std::count(used_.begin(), used_.end(), 0)) * line_bytes_;
  }

 private:
  friend class mpm_block;
  void give_back(const mpm_block& block) noexcept {
    mark((block.offset() - first_) / line_bytes_, block.bytes() / line_bytes_, 0);
    if (observer_ != nullptr) observer_->released(block.offset(), block.bytes());
  }
  void mark(std::size_t begin, std::size_t lines, std::uint8_t value) noexcept {
    std::fill_n(used_.begin() + static_cast<std::ptrdiff_t>(begin), lines, value);
  }

  std::size_t first_;
  std::size_t line_bytes_;
  std::vector<std::uint8_t> used_;  // one byte per line
  allocation_observer* observer_ = nullptr;
};

inline mpm_block::~mpm_block() {
  if (from_ != nullptr) from_->give_back(*this);
}

}  // namespace creek
