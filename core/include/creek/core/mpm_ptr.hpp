// SPDX-License-Identifier: Apache-2.0
// The address of something in message-passing memory. It cannot be dereferenced: only a memory
// policy reads and writes there, because only the policy knows what an access to that core's memory
// takes.
#pragma once

#include <compare>
#include <cstddef>
#include <type_traits>

#include <creek/core/language.hpp>

namespace creek {

/// A place in some core's message-passing memory (or in shared memory that a policy serves).
/// As cheap as a pointer; null by default. Obtained from `Memory::at(core, offset)`.
template <class T>
class mpm_ptr {
 public:
  using element_type = T;

  constexpr mpm_ptr() noexcept = default;
  constexpr explicit mpm_ptr(T* address) noexcept : address_{address} {}
  /// Adds const, as a pointer does.
  template <class U>
  requires(std::is_same_v<T, const U>) constexpr mpm_ptr(mpm_ptr<U> other) noexcept
      : address_{other.address()} {}

  /// Returns the address itself, for memory policies.
  [[nodiscard]] constexpr T* address() const noexcept { return address_; }
  constexpr explicit operator bool() const noexcept { return address_ != nullptr; }

  /// Returns the same place as another type; the caller answers for size and alignment.
  template <class U>
  [[nodiscard]] mpm_ptr<U> as() const noexcept {
    using bytes = std::conditional_t<std::is_const_v<U>, const void, void>;
    return mpm_ptr<U>{static_cast<U*>(static_cast<bytes*>(address_))};
  }

  friend constexpr mpm_ptr operator+(mpm_ptr p, std::ptrdiff_t n) noexcept {
    return mpm_ptr{p.address_ + n};
  }
  friend constexpr bool operator==(mpm_ptr, mpm_ptr) = default;

 private:
  T* address_ = nullptr;
};

}  // namespace creek
