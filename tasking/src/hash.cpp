// SPDX-License-Identifier: Apache-2.0
#include <creek/tasking/hash.hpp>

#include <sys/auxv.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <creek/tasking/ext/backend_registry.hpp>
#include <creek/tasking/ext/executor.hpp>

namespace creek {
namespace {

hash_secret make_secret(const hash_factors& factors, std::uint64_t seed) noexcept {
  hash_secret made{factors, seed, {}};
  static_assert(sizeof made.long_keys == XXH3_SECRET_DEFAULT_SIZE);
  XXH3_generateSecret_fromSeed(made.long_keys.data(), seed);
  return made;
}

hash_secret secret_by(std::string_view text) noexcept {
  const auto number = [&](std::uint64_t i) {
    return XXH3_64bits_withSeed(text.data(), text.size(), i);
  };
  return make_secret({number(1), number(2) | hash_factors::first_bit}, number(3));
}

/// Never blocks: early at boot it uses the sixteen random bytes that the kernel gives each process.
hash_secret random_secret() noexcept {
  std::array<char, 24> bytes{};
  if (getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) == static_cast<ssize_t>(bytes.size())) {
    return secret_by({bytes.data(), bytes.size()});
  }
  if (const auto* given = reinterpret_cast<const char*>(getauxval(AT_RANDOM))) {
    return secret_by({given, 16});
  }
  return make_secret(fixed_hash_factors, 0);
}

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

hash_secret secret_of_process() noexcept {
  if (const auto seed = variable("CREEK_HASH_SEED"); !seed.empty()) return secret_by(seed);
  if (ext::runs_repeat_on(variable("CREEK_BACKEND"))) return make_secret(fixed_hash_factors, 0);
  return random_secret();
}

}  // namespace

std::uint64_t hash_long(std::string_view bytes, const hash_secret& by) noexcept {
  return XXH3_64bits_withSecretandSeed(bytes.data(), bytes.size(), by.long_keys.data(),
                                       by.long_keys.size(), by.seed);
}

// Static objects of a program may hash keys: these are constructed before them.
[[gnu::init_priority(101)]] const hash_secret process_hash_secret = secret_of_process();
[[gnu::init_priority(101)]] const hash_secret repeatable_hash_secret =
    make_secret(fixed_hash_factors, 0);

const hash_secret& current_hash_secret() noexcept {
  const ext::executor* const here = ext::current_executor();
  return here != nullptr && here->traits().runs_repeat ? repeatable_hash_secret
                                                       : process_hash_secret;
}

}  // namespace creek
