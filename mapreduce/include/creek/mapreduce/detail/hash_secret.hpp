// SPDX-License-Identifier: Apache-2.0
// Secrets of the hash functions. With random ones, nobody can prepare keys with equal hashes, which
// would make every table slow (hash flooding).
#pragma once

#include <array>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// The two numbers that hash keys of at most 16 bytes.
struct hash_factors {
  static constexpr std::uint64_t first_bit = std::uint64_t{1} << 63;
  std::uint64_t low;
  std::uint64_t high;  ///< its top bit is set, see hash_upper()
};
inline constexpr hash_factors fixed_factors{0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull};

struct hash_secret {
  hash_factors factors;
  std::uint64_t seed;                        ///< seed of xxHash, for keys of 17 to 240 bytes
  std::array<unsigned char, 192> long_keys;  ///< secret of xxHash, for longer keys
};

/// Secret drawn when the process starts, before other static objects are constructed; the same for
/// every process if `CREEK_HASH_SEED` is set or the environment's backend is `scc`. For runs on
/// runtimes other than the simulated chip: see secret_here().
extern const hash_secret process_secret;
/// Secret for hashes that must repeat in every process: partitions of ranks, the simulated chip.
extern const hash_secret repeatable_secret;
/// Returns the secret for tables of the caller: the repeatable one on a strand of a runtime whose
/// runs repeat (the simulated chip), else the process's.
[[nodiscard]] const hash_secret& secret_here() noexcept;

}  // namespace creek::mapreduce::detail
