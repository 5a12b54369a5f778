// SPDX-License-Identifier: Apache-2.0
// The hash of integer keys that lie too far apart for an array.
#pragma once

#include <creek/tasking/hash.hpp>
#include <cstdint>

namespace creek::tpch {

/// Returns a hash whose upper bits index tables. It depends on the secret of the process, so nobody
/// can choose keys with one hash beforehand; no result may depend on its order.
[[nodiscard]] inline std::uint64_t hash_key(std::uint64_t key) noexcept {
  const auto& secret = process_hash_secret.factors;
  // The folded product alone clusters multiples of a number for some secrets: its upper bits follow
  // the multiples. The second product depends on all bits. `high` is never 0.
  return multiply_and_fold(key ^ secret.low, secret.high) * fixed_hash_factors.low;
}

}  // namespace creek::tpch
