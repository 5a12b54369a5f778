// SPDX-License-Identifier: Apache-2.0
// The answer of workloads that add up values by key: a number that depends on the keys and sums,
// and that a query of any database can compute.
#pragma once
#include <cstdint>

namespace bench {

class key_digest {
 public:
  /// `key`: a number that the workload makes of the key.
  void add(std::uint64_t key, std::uint64_t sum) noexcept {
    ++keys_;
    mixed_ += key * sum;
  }
  void add(const key_digest& other) noexcept {
    keys_ += other.keys_;
    mixed_ += other.mixed_;
  }
  [[nodiscard]] std::uint64_t answer() const noexcept { return 1'000'003 * keys_ + mixed_; }

 private:
  std::uint64_t keys_ = 0, mixed_ = 0;
};

}  // namespace bench
