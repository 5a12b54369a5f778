// SPDX-License-Identifier: Apache-2.0
// Default hashes of keys: integers, byte strings, tuples, and types with std::hash.
#pragma once

#include <concepts>
#include <creek/mapreduce/detail/byte_hash.hpp>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace creek::mapreduce {

template <class Key>
concept byte_string = std::convertible_to<const Key&, std::string_view>;

namespace detail {
template <class Key>
concept tuple_like = requires {
  std::tuple_size<Key>::value;
};

/// Spreads a value over all 64 bits; partitions and tables use different bits.
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t x,
                                             const hash_factors& by = fixed_factors) noexcept {
  return hash16(x, 0, 8, by);
}

/// Returns the hash of a key; all 64 bits are usable.
template <class Key>
[[nodiscard]] std::uint64_t hash_by(const hash_secret& by, const Key& key) {
  if constexpr (byte_string<Key>) {
    return hash_bytes(key, by);
  } else if constexpr (std::integral<Key> || std::is_enum_v<Key>) {
    return spread(static_cast<std::uint64_t>(key), by.factors);
  } else if constexpr (tuple_like<Key>) {
    return std::apply(
        [&by](const auto&... parts) {
          std::uint64_t hash = 0;
          ((hash = hash16(hash, hash_by(by, parts), 16, by.factors)), ...);
          return hash;
        },
        key);
  } else {
    return spread(std::hash<Key>{}(key), by.factors);
  }
}
}  // namespace detail

/// Returns the hash of a key; all 64 bits are usable. Equal keys have equal hashes in one process;
/// other processes use other secrets, unless `CREEK_HASH_SEED` sets them. Do not store it.
template <class Key>
[[nodiscard]] std::uint64_t default_hash(const Key& key) {
  return detail::hash_by(detail::process_secret, key);
}

/// Returns a hash like default_hash(), but the same in every process, for runs that must repeat: a
/// job's own hash() that calls it repeats on the simulated chip. Keys of equal hash can be
/// constructed deliberately.
template <class Key>
[[nodiscard]] std::uint64_t repeatable_hash(const Key& key) {
  return detail::hash_by(detail::repeatable_secret, key);
}

/// Returns the job's hash of a key, or a default hash with `secret`, which belongs to one run: see
/// detail::secret_here().
template <class Job>
[[nodiscard]] std::uint64_t hash_of(const Job& job, const typename Job::key_type& key,
                                    const detail::hash_secret& secret = detail::secret_here()) {
  if constexpr (requires { job.hash(key); }) {
    return job.hash(key);
  } else {
    return detail::hash_by(secret, key);
  }
}

}  // namespace creek::mapreduce
