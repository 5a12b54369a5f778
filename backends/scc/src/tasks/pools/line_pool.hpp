// SPDX-License-Identifier: Apache-2.0
// Lines of message-passing memory for counters of children, results and messages.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/scc/memory.hpp>

namespace creek::scc_backend {

/// The rest of a core's message-passing memory, handed out by the line. Its free list lies in
/// private memory of the core. Results may be destroyed by any thread, and after the runtime.
class line_pool {
 public:
  line_pool(std::size_t first, std::size_t bytes) : lines_(first, bytes, memory::line_bytes) {}
  std::optional<mpm_block> take(std::size_t lines) {
    const std::lock_guard guard(mutex_);
    return lines_.allocate(lines * memory::line_bytes);
  }
  std::optional<mpm_block> take_at(std::size_t place, std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    return lines_.allocate_at(place, bytes);
  }
  void give_back(mpm_block unused) {
    const std::lock_guard guard(mutex_);
    mpm_block gone = std::move(unused);
  }

 private:
  std::mutex mutex_;
  symmetric_allocator lines_;
};

/// A block of a core's pool; goes back to it when destroyed.
class pool_lines {
 public:
  pool_lines(std::shared_ptr<line_pool> from, core_id owner, mpm_block block) noexcept
      : from_(std::move(from)), owner_(owner), block_(std::move(block)) {}
  pool_lines(pool_lines&&) noexcept = default;
  pool_lines& operator=(pool_lines&&) = delete;
  ~pool_lines() {
    if (from_ != nullptr) from_->give_back(std::move(block_));
  }
  core_id owner() const noexcept { return owner_; }
  mpm_ptr<std::byte> at(const memory& view, std::size_t line) const noexcept {
    return view.at(owner_, block_.offset() + line * memory::line_bytes);
  }

 private:
  std::shared_ptr<line_pool> from_;
  core_id owner_;
  mpm_block block_;
};

}  // namespace creek::scc_backend
