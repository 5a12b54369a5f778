// SPDX-License-Identifier: Apache-2.0
// The steps of a wait, for the templates of the memory policy.
#pragma once

#include <cstdint>

#include <creek/scc/core_view.hpp>

namespace creek::scc_backend {

/// Covers a wait from the first look in vain to the one that was not.
class [[nodiscard]] wait_steps : core_view {
 public:
  explicit wait_steps(const core_view& core) : core_view(core) { begin(); }
  ~wait_steps() { end(); }
  wait_steps(const wait_steps&) = delete;
  wait_steps& operator=(const wait_steps&) = delete;

  /// Parks the core until the word is stored to, or until the next look.
  void await_store(const void* address) const;
  /// Parks the core until more stores to its memory than `seen_before` have been made.
  void await_own_store(std::uint64_t seen_before, virtual_time began) const;

 private:
  void begin() const;
  void end() const noexcept;
};

}  // namespace creek::scc_backend
