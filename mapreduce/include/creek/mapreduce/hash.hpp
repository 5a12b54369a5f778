// SPDX-License-Identifier: Apache-2.0
// Hashes of keys whose job gives none: integers, byte strings, tuples, and what std::hash knows.
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

template <class Key>
[[nodiscard]] std::uint64_t default_hash(const Key& key);

namespace detail {
template <class Key>
concept tuple_like = requires {
  std::tuple_size<Key>::value;
};

/// Spreads a value over all 64 bits; partitions and tables use different ones.
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t x) noexcept {
  return hash16(x, 0, 8);
}
}  // namespace detail

/// All 64 bits are usable. Equal keys have equal hashes in one process; not for storage.
template <class Key>
std::uint64_t default_hash(const Key& key) {
  if constexpr (byte_string<Key>) {
    return detail::hash_bytes(key);
  } else if constexpr (std::integral<Key> || std::is_enum_v<Key>) {
    return detail::spread(static_cast<std::uint64_t>(key));
  } else if constexpr (detail::tuple_like<Key>) {
    return std::apply(
        [](const auto&... parts) {
          std::uint64_t hash = 0;
          ((hash = detail::hash16(hash, default_hash(parts), 16)), ...);
          return hash;
        },
        key);
  } else {
    return detail::spread(std::hash<Key>{}(key));
  }
}

/// The job's hash of a key, or the default.
template <class Job>
[[nodiscard]] std::uint64_t hash_of(const Job& job, const typename Job::key_type& key) {
  if constexpr (requires { job.hash(key); }) {
    return job.hash(key);
  } else {
    return default_hash(key);
  }
}

}  // namespace creek::mapreduce
