// SPDX-License-Identifier: Apache-2.0
// Which rank gets all pairs of a key: by the key's hash, or by ranges of keys.
#pragma once

#include <algorithm>
#include <concepts>
#include <creek/core/error.hpp>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

[[noreturn]] inline void refuse_hash() {
  throw usage_error(
      "run_on_machines: the job's hash() gives other numbers on another rank; let it use nothing "
      "that differs from process to process, as default_hash() does");
}

/// Returns the rank, in [0, ranks), that gets all pairs of a key; the same in all processes, if the
/// job's hash is.
template <class Job>
[[nodiscard]] std::size_t owner_of(const Job& job, const typename Job::key_type& key,
                                   std::size_t ranks) {
  const auto in_ranks = [ranks](std::uint64_t hash) {
    return static_cast<std::size_t>((hash >> 32) * ranks >> 32);
  };
  if constexpr (requires { job.hash(key); }) {
    return in_ranks(hash_integer(job.hash(key)));  // some bits of a job's own hash may be bad
  } else {
    return in_ranks(repeatable_hash(key));
  }
}

/// Returns for how many keys one is a sample by which ranks agree on their ranges, if this rank has
/// so many keys. All ranks call it.
template <class Communicator>
[[nodiscard]] std::uint64_t sample_step(Communicator& ranks, std::uint64_t keys) {
  constexpr std::uint64_t keys_per_part = 1024;  // ranges differ by a few per cent; an estimate
  const std::uint64_t all = ranks.allreduce(keys, std::plus{});
  return std::max<std::uint64_t>(1, all / (keys_per_part * static_cast<unsigned>(ranks.size())));
}

/// Returns the bytes of all ranks, in the order of the ranks. All ranks call it.
template <class Communicator>
[[nodiscard]] std::vector<std::byte> share_bytes(Communicator& ranks,
                                                 const std::vector<std::byte>& mine) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::byte> copies;  // one for each rank
  for (std::size_t rank = 0; rank < size; ++rank) {
    copies.insert(copies.end(), mine.begin(), mine.end());
  }
  const std::vector<std::uint64_t> counts(size, mine.size());
  return ranks
      .all_to_all_v(std::span<const std::byte>(copies), std::span<const std::uint64_t>(counts))
      .data;
}

/// Returns whether the job orders its records by their keys, which are compared by `<`.
template <class Job>
[[nodiscard]] bool orders_by_key([[maybe_unused]] const Job& job) {
  if constexpr (requires {
                  { job.orders_by_key() } -> std::same_as<bool>;
                }) {
    return job.orders_by_key();
  } else {
    return !orders<Job> && sortable<Job>;
  }
}

/// The owners of keys: the same on all ranks.
template <class Job>
class key_owners {
 public:
  using key_type = typename Job::key_type;

  key_owners(const Job& job, std::size_t ranks) : job_(&job), ranks_(ranks) {}

  [[nodiscard]] std::size_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::size_t operator()(const key_type& key) const {
    if constexpr (std::totally_ordered<key_type>) {
      if (!limits_.empty()) {
        return static_cast<std::size_t>(std::ranges::upper_bound(limits_, key) - limits_.begin());
      }
    }
    return owner_of(*job_, key, ranks_);
  }

  /// Lets each rank own a range of keys, with a similar number of a sample that all ranks have.
  void divide(std::vector<std::byte> sample) {
    if constexpr (std::totally_ordered<key_type>) {
      sample_ = std::move(sample);
      std::vector<key_type> keys;
      for (const std::byte* at = sample_.data(); at != sample_.data() + sample_.size();) {
        keys.push_back(wire<key_type>::get(at));
      }
      std::ranges::sort(keys);
      for (std::size_t rank = 1; rank < ranks_ && !keys.empty(); ++rank) {
        limits_.push_back(keys[rank * keys.size() / ranks_]);
      }
    }
  }

 private:
  const Job* job_;
  std::size_t ranks_;
  std::vector<std::byte> sample_;  // limits may point into it
  std::vector<key_type> limits_;   // first key of each rank but rank 0
};

}  // namespace creek::mapreduce::detail
