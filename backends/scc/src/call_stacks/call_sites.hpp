// SPDX-License-Identifier: Apache-2.0
// Stacks of return addresses from which the program called an operation, each kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace creek::scc_backend {

/// Id of a stack of calls; 0 is the unknown one.
using site_id = std::uint32_t;

/// Walks stacks and numbers them. A walk takes microseconds, so the last stacks from each frame are
/// kept together with the places their return addresses were read from: if these still hold them,
/// it is the same stack.
class call_sites {
 public:
  /// Returns the stack of calls above the function with this return address and frame address (see
  /// __builtin_frame_address). Called below that function, on its stack.
  site_id above(const void* return_address, const void* frame);

  /// Returns the return addresses, innermost first. Valid until the next above().
  [[nodiscard]] std::span<const std::uintptr_t> addresses(site_id site) const;
  /// Returns the innermost address, 0 if unknown.
  [[nodiscard]] std::uintptr_t innermost(site_id site) const {
    return stacks_[site].count == 0 ? 0 : addresses_[stacks_[site].begin];
  }

 private:
  static constexpr std::size_t deepest = 24;
  static constexpr std::size_t max_known = 8;  ///< number of stacks kept per frame
  struct stack {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  struct frame_key {
    std::uintptr_t address;
    std::uintptr_t frame;
    friend bool operator==(frame_key, frame_key) = default;
  };
  struct key_hash {
    std::size_t operator()(frame_key key) const noexcept {
      return (key.address * 0x9E3779B97F4A7C15u) ^ (key.frame >> 3);
    }
  };
  struct walk {
    site_id site = 0;
    std::vector<const std::uintptr_t*> slots;  ///< where each return address lies
  };

  [[nodiscard]] bool still_there(const walk& known) const;
  site_id number_of(std::span<const std::uintptr_t> found);

  std::vector<std::uintptr_t> addresses_;
  std::vector<stack> stacks_{1};
  std::unordered_multimap<std::size_t, site_id> by_hash_;  // only looked up, never iterated
  std::unordered_map<frame_key, std::vector<walk>, key_hash> walks_;  // only looked up, too
};

}  // namespace creek::scc_backend
