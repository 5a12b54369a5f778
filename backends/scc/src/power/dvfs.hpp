// SPDX-License-Identifier: Apache-2.0
// Settings of the islands' supplies, now and by requests under way, and the clocks that they allow.
// Bookkeeping only: power_control decides when things happen, and their effect on cores.
#pragma once

#include <cstdint>
#include <vector>

#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

class dvfs {
 public:
  explicit dvfs(const chip& of);

  /// Throws usage_error if the chip has no such divider.
  void require_divider(int divider) const;
  /// Returns the lowest safe level for the divider; throws usage_error if there is none.
  [[nodiscard]] int level_for(int divider) const;

  /// Returns whether an island's supply allows the divider's clock from `at` on, requests under way
  /// included.
  [[nodiscard]] bool is_safe(int island, int divider, virtual_time at) const noexcept;
  /// Throws usage_error, which says what the island allows, if the divider is not safe.
  void require_safe(int island, int divider, virtual_time at) const;

  /// Returns the level that the island has, or will have when all its requests are served.
  [[nodiscard]] int planned_level(int island) const noexcept { return plan(island).back().level; }
  [[nodiscard]] int level_at(int island, virtual_time at) const noexcept;
  /// Returns when the island's last voltage change takes effect.
  [[nodiscard]] virtual_time settled(int island) const noexcept { return plan(island).back().from; }

  /// Queues a change at the chip's regulator, which serves one after the other, first come, first
  /// served; returns when it takes effect. Must be called in the order of virtual time.
  virtual_time queue(int island, int level, virtual_time at);

  /// Defers a request's frequency until its voltage is there; replaces one of the same island.
  void defer(int island, std::uint64_t request) noexcept { deferred_[index(island)] = request; }
  [[nodiscard]] bool is_deferred(int island, std::uint64_t request) const noexcept {
    return deferred_[index(island)] == request;
  }
  [[nodiscard]] std::uint64_t new_request() noexcept { return ++requests_; }
  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }

 private:
  struct planned {
    virtual_time from;
    int level;
  };
  static std::size_t index(int island) noexcept { return static_cast<std::size_t>(island); }
  const std::vector<planned>& plan(int island) const noexcept { return plans_[index(island)]; }
  /// Returns the lowest level from `at` on.
  int lowest_from(int island, virtual_time at) const noexcept;

  const chip& chip_;
  std::vector<std::vector<planned>> plans_;  ///< per island, in the order of time
  std::vector<std::uint64_t> deferred_;      ///< per island: request number, 0 if none
  virtual_time regulator_free_;
  std::uint64_t requests_ = 0;
};

}  // namespace creek::scc_backend
