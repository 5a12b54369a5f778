// SPDX-License-Identifier: Apache-2.0
// Numbers drawn from a seed: SplitMix64 [Steele 2014].
#pragma once

#include <cstdint>

namespace creek::scc_backend {

/// Returns the `position`-th number (from 0) of the sequence that starts at `state`.
constexpr std::uint64_t split_mix(std::uint64_t state, std::uint64_t position) noexcept {
  std::uint64_t z = state + (position + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace creek::scc_backend
