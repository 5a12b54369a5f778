// SPDX-License-Identifier: Apache-2.0
// Operands that one task packs for several other tasks.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Packed operand that its last user frees. The task that makes it runs before the users.
template <class Packed>
class shared_pack {
 public:
  template <class... Arguments>
  void make(index_t users, Arguments&&... arguments) {
    if (users != 0) keep(users, std::make_unique<Packed>(std::forward<Arguments>(arguments)...));
  }
  void keep(index_t users, std::unique_ptr<Packed> packed) noexcept {
    packed_ = std::move(packed);
    users_left_.store(users, std::memory_order_relaxed);
  }
  const Packed& get() const noexcept { return *packed_; }
  /// Called by each user when it is done; the last call frees the operand.
  void release() noexcept {
    sanitizer::releases(&users_left_);
    if (users_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    sanitizer::acquired(&users_left_);
    packed_.reset();
  }

 private:
  std::unique_ptr<Packed> packed_;
  std::atomic<index_t> users_left_{0};
};

}  // namespace creek::linalg::detail
