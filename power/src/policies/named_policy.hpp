// SPDX-License-Identifier: Apache-2.0
// Common base of creek's policies: a name, and the rule that one runtime at a time uses each.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include <creek/core/error.hpp>
#include <creek/core/power_policy.hpp>

namespace creek::power::detail {

class named_policy : public power_policy {
 public:
  std::string_view name() const noexcept final { return name_; }

  void begin(const power_site& site) final {
    if (in_use_.exchange(true, std::memory_order_acquire)) {
      throw usage_error("power policy '" + std::string(name_) +
                        "' is in use by another runtime; make one for each");
    }
    try {
      start(site);
    } catch (...) {
      in_use_.store(false, std::memory_order_release);
      throw;
    }
  }
  void end() noexcept final {
    stop();
    in_use_.store(false, std::memory_order_release);
  }

 protected:
  /// `name` is kept by address: pass a literal.
  explicit named_policy(std::string_view name) noexcept : name_(name) {}
  /// Called by begin() and end().
  virtual void start(const power_site&) {}
  virtual void stop() noexcept {}

 private:
  std::string_view name_;
  std::atomic<bool> in_use_{false};
};

}  // namespace creek::power::detail
