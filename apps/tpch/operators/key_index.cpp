// SPDX-License-Identifier: Apache-2.0
#include "key_index.hpp"

#include <algorithm>
#include <creek/tasking/hash.hpp>

#include "bits.hpp"

namespace creek::tpch {

key_index::key_index(std::span<const std::int64_t> keys) : size_(keys.size()) {
  if (keys.empty()) return;
  least_ = static_cast<std::uint64_t>(keys.front());
  const std::uint64_t last = static_cast<std::uint64_t>(keys.back()) - least_;
  if (last == keys.size() - 1) {
    range_ = keys.size();
    return;
  }
  // dbgen uses a quarter of the range of order keys, and a query a tenth to a fiftieth of these.
  // 512 bits per key are 128 bytes with the counts; 2^26 bits are 16 MiB whatever the keys.
  constexpr std::uint64_t bits_a_key = 1 << 9, always = std::uint64_t{1} << 26;
  dense_ = keys.size() >> 32 == 0 && (last < always || last / bits_a_key < keys.size());
  if (dense_) {
    range_ = last + 1;
    build_dense(keys);
  } else {
    build_hashed(keys);
  }
}

key_index key_index::consecutive(std::int64_t least, std::size_t size) {
  key_index all;
  all.size_ = size;
  all.least_ = static_cast<std::uint64_t>(least);
  all.range_ = size;
  return all;
}

void key_index::build_dense(std::span<const std::int64_t> keys) {
  const auto words = static_cast<std::size_t>((range_ + 31) / 32);
  bits_.resize(words + bitmap::slack);
  before_.resize(words);
  for (const std::int64_t key : keys) {
    const std::uint64_t offset = static_cast<std::uint64_t>(key) - least_;
    bits_[offset / 32] |= std::uint32_t{1} << offset % 32;
  }
  count_ones_before({bits_.data(), words}, before_.data());
}

void key_index::build_hashed(std::span<const std::int64_t> keys) {
  slots_.resize(std::bit_ceil(2 * keys.size()));
  shift_ = 64 - std::countr_zero(slots_.size());
  // Nobody can choose keys for a secret factor. By chance about one factor in ten maps multiples of
  // a number to few slots; then another one is tried. 1.5 probes per key are usual.
  const auto& secret = process_hash_secret.factors;
  factor_ = secret.low | 1;
  const std::size_t limit = 2 * keys.size() + 64;
  for (int tries = 16; !put_all(keys, tries > 0 ? limit : ~std::size_t{0}); --tries) {
    factor_ = multiply_and_fold(factor_, secret.high) | 1;
    std::ranges::fill(slots_, slot{});
  }
}

bool key_index::put_all(std::span<const std::int64_t> keys, std::size_t limit) {
  std::size_t probes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t offset = static_cast<std::uint64_t>(keys[i]) - least_;
    const std::size_t home = home_of(offset);
    std::size_t at = home;
    while (slots_[at].place != absent) at = (at + 1) % slots_.size();
    slots_[at] = {offset, i};
    probes += (at - home) % slots_.size() + 1;
    if (probes > limit) return false;
  }
  return true;
}

std::size_t key_index::probes() const noexcept {
  std::size_t sum = 0;
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    if (slots_[at].place == absent) continue;
    sum += (at - home_of(slots_[at].offset)) % slots_.size() + 1;
  }
  return sum;
}

}  // namespace creek::tpch
