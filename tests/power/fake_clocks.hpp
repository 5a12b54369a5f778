// SPDX-License-Identifier: Apache-2.0
// A clock control that records the clocks that workers request, and grants them.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include <creek/core/power_policy.hpp>

namespace creek::support {

class fake_clocks final : public clock_control {
 public:
  static constexpr std::size_t nothing = ~std::size_t{0};

  fake_clocks(unsigned workers, std::vector<units::hertz> clocks)
      : clocks_(std::move(clocks)), wished_(workers), wishes_(workers) {
    for (auto& each : wished_) each.store(nothing);
  }
  std::span<const units::hertz> clocks() const noexcept override { return clocks_; }
  int domain(unsigned worker) const noexcept override { return static_cast<int>(worker); }
  void wish(unsigned worker, std::size_t step) noexcept override {
    wished_[worker].store(step);
    wishes_[worker].fetch_add(1);
  }
  units::hertz clock(unsigned worker) const noexcept override {
    const std::size_t step = wished_[worker].load();
    return step == nothing ? units::hertz{} : clocks_[step];
  }

  std::size_t wished(unsigned worker) const { return wished_[worker].load(); }
  int wishes(unsigned worker) const { return wishes_[worker].load(); }

 private:
  std::vector<units::hertz> clocks_;
  std::vector<std::atomic<std::size_t>> wished_;
  std::vector<std::atomic<int>> wishes_;
};

inline std::vector<units::hertz> three_clocks() {
  return {units::hertz{1e9}, units::hertz{2e9}, units::hertz{4e9}};
}

}  // namespace creek::support
