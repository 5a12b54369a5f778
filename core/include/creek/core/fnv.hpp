// SPDX-License-Identifier: Apache-2.0
// The hash FNV-1a with 64 bits [FNV]: for fingerprints, not against chosen input.
#pragma once

#include <cstdint>

#include <creek/core/language.hpp>

namespace creek {

/// Hashes parts in their order: bytes for FNV-1a itself, or numbers of up to 64 bits in their
/// place.
class fnv1a {
 public:
  constexpr void add(std::uint64_t part) noexcept { hash_ = (hash_ ^ part) * 0x100000001b3U; }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace creek
