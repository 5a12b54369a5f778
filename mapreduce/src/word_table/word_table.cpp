// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/word_table/word_table.hpp>

#include <cmath>
#include <utility>

namespace creek::mapreduce {

/// Segments of a bucket fill up and split at about the same time. Bucket sizes spread over a factor
/// of two, so that not all buckets split together, and the table is always about 60 % full.
word_table::word_table() {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const double lines = 32 * std::exp2(static_cast<double>(i / 2) / partitions);
    buckets_[i].initialise(pool_, secret_->factors, static_cast<std::uint32_t>(lines) - 1,
                           i % 2 != 0);
  }
}

std::size_t word_table::size() const noexcept {
  std::size_t sum = 0;
  for (const detail::word_bucket& each : buckets_) sum += each.size();
  return sum;
}

std::size_t word_table::bytes() const noexcept {
  std::size_t sum = 0;
  for (const detail::word_bucket& each : buckets_) sum += each.bytes();
  return sum;
}

std::size_t word_table::key_bytes() const noexcept {
  std::size_t sum = 0;
  for (const detail::word_bucket& each : buckets_) sum += each.arena().bytes();
  return sum;
}

byte_arena word_table::take_arena() {
  byte_arena all;
  for (detail::word_bucket& each : buckets_) all.adopt(std::move(each.arena()));
  return all;
}

}  // namespace creek::mapreduce
