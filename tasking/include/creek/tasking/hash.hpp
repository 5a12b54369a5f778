// SPDX-License-Identifier: Apache-2.0
// Hashes of keys: integers, byte strings, tuples, and types with std::hash. They depend on a random
// secret, so nobody can prepare keys with equal hashes, which would make every table slow (hash
// flooding).
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <creek/core/language.hpp>

namespace creek {

/// The two numbers that hash keys of at most 16 bytes.
struct hash_factors {
  static constexpr std::uint64_t first_bit = std::uint64_t{1} << 63;
  std::uint64_t low;
  std::uint64_t high;  ///< its top bit is set, so it is never 0
};
inline constexpr hash_factors fixed_hash_factors{0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull};

struct hash_secret {
  hash_factors factors;
  std::uint64_t seed;                        ///< seed of xxHash, for keys of 17 to 240 bytes
  std::array<unsigned char, 192> long_keys;  ///< secret of xxHash, for longer keys
};

/// Secret drawn when the process starts, before other static objects are constructed; the same for
/// every process if `CREEK_HASH_SEED` is set or runs repeat on the backend that `CREEK_BACKEND`
/// names. On a runtime that the program makes itself: see current_hash_secret().
extern const hash_secret process_hash_secret;
/// Secret for hashes that must repeat in every process, such as partitions of ranks.
extern const hash_secret repeatable_hash_secret;
/// Returns the secret for tables of the caller: the repeatable one on a strand of a runtime whose
/// runs repeat (executor_traits::runs_repeat), else the process's.
[[nodiscard]] const hash_secret& current_hash_secret() noexcept;

template <class Key>
concept byte_string = std::convertible_to<const Key&, std::string_view>;

template <class Key>
concept tuple_like = requires {
  std::tuple_size<Key>::value;
};

/// Returns a folded 128-bit product, as in wyhash [Wang 2019]. A factor of 0 would cancel the other
/// one, so the callers make sure that neither is 0.
[[nodiscard]] constexpr std::uint64_t multiply_and_fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  // The lower half is a separate multiplication: GCC 12 keeps a 128-bit product in memory.
  return a * b ^ static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);
}

namespace detail {
/// Hash of a string of at most 16 bytes, zero-padded; the length is mixed in because a string may
/// end in NUL bytes.
[[nodiscard]] constexpr std::uint64_t hash_padded(std::uint64_t low, std::uint64_t high,
                                                  std::uint64_t length,
                                                  const hash_factors& by) noexcept {
  constexpr std::uint64_t instead_of_zero = 0xE7037ED1A0B428DBull;
  const std::uint64_t a = low ^ by.low;
  const std::uint64_t b = (high ^ by.high) + length * 0xA0761D6478BD642Full;
  const std::uint64_t product =
      multiply_and_fold(a != 0 ? a : instead_of_zero, b != 0 ? b : instead_of_zero);
  // The folded product alone follows keys that follow each other: for one secret in a hundred, most
  // of 200 successive integers have the same upper bits. The second product depends on all bits of
  // the first, and its lower half gets its upper one, which is mixed better.
  const std::uint64_t spread = product * fixed_hash_factors.low;
  return spread ^ spread >> 32;
}
}  // namespace detail

/// Returns the hash of a string of more than 16 bytes, by xxHash.
[[nodiscard]] std::uint64_t hash_long(std::string_view bytes, const hash_secret& by) noexcept;

/// The bytes of a string of at most 16 bytes, zero-padded, as in memory.
struct padded_bytes {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const padded_bytes&, const padded_bytes&) = default;
};

/// Returns the bytes of a string of at most 16 bytes; reads exactly these. Loads overlap, as
/// a std::memcpy of unknown length would be a call.
[[nodiscard]] inline padded_bytes pad_bytes(std::string_view bytes) noexcept {
  const std::size_t n = bytes.size();
  const char* const from = bytes.data();
  padded_bytes made;
  if constexpr (std::endian::native != std::endian::little) {
    if (n != 0) std::memcpy(&made, from, n);
    return made;
  }
  const auto load = [from]<class Word>(Word word, std::size_t at) {
    std::memcpy(&word, from + at, sizeof(word));
    return std::uint64_t{word};
  };
  if (n > 8) {
    made.low = load(std::uint64_t{}, 0);
    made.high = load(std::uint64_t{}, n - 8) >> (8 * (16 - n));
  } else if (n >= 4) {
    made.low = load(std::uint32_t{}, 0) | load(std::uint32_t{}, n - 4) << (8 * (n - 4));
  } else if (n > 0) {
    made.low = load(std::uint8_t{}, 0) | load(std::uint8_t{}, n / 2) << (8 * (n / 2)) |
               load(std::uint8_t{}, n - 1) << (8 * (n - 1));
  }
  return made;
}

/// Returns the hash of a string of `length` bytes, at most 16: the same as that of its view.
[[nodiscard]] inline std::uint64_t hash_bytes(const padded_bytes& bytes, std::size_t length,
                                              const hash_secret& by) noexcept {
  return detail::hash_padded(bytes.low, bytes.high, length, by.factors);
}

/// Returns the hash of a byte string; reads exactly its bytes.
[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view bytes,
                                              const hash_secret& by) noexcept {
  if (bytes.size() > 16) return hash_long(bytes, by);
  return hash_bytes(pad_bytes(bytes), bytes.size(), by);
}

/// Spreads an integer over all 64 bits; partitions and tables use different bits.
[[nodiscard]] constexpr std::uint64_t hash_integer(
    std::uint64_t x, const hash_factors& by = fixed_hash_factors) noexcept {
  return detail::hash_padded(x, 0, 8, by);
}

/// Returns the hash of a key with a secret; all 64 bits are usable.
template <class Key>
[[nodiscard]] std::uint64_t hash_with(const hash_secret& by, const Key& key) {
  if constexpr (byte_string<Key>) {
    return hash_bytes(key, by);
  } else if constexpr (std::integral<Key> || std::is_enum_v<Key>) {
    return hash_integer(static_cast<std::uint64_t>(key), by.factors);
  } else if constexpr (tuple_like<Key>) {
    return std::apply(
        [&by](const auto&... parts) {
          std::uint64_t hash = 0;
          ((hash = detail::hash_padded(hash, hash_with(by, parts), 16, by.factors)), ...);
          return hash;
        },
        key);
  } else {
    static_assert(std::is_default_constructible_v<std::hash<Key>>,
                  "a key needs a hash: specialise std::hash, or give a job a hash(key)");
    return hash_integer(std::hash<Key>{}(key), by.factors);
  }
}

/// Returns the hash of a key; all 64 bits are usable. Equal keys have equal hashes in one process;
/// other processes use other secrets, unless `CREEK_HASH_SEED` sets them. Do not store it.
template <class Key>
[[nodiscard]] std::uint64_t default_hash(const Key& key) {
  return hash_with(process_hash_secret, key);
}

/// Returns a hash like default_hash(), but the same in every process, for runs that must repeat.
/// Keys of equal hash can be constructed deliberately.
template <class Key>
[[nodiscard]] std::uint64_t repeatable_hash(const Key& key) {
  return hash_with(repeatable_hash_secret, key);
}

}  // namespace creek
