// SPDX-License-Identifier: Apache-2.0
// A simulated chip whose time and energy a test sets; the thread that created it drives it.
#pragma once

#include <utility>

#include <creek/core/energy.hpp>

namespace creek::testing {

class fake_chip final : public simulated_meter {
 public:
  fake_chip() : before_(std::exchange(creek::detail::metered_by, this)) {}
  ~fake_chip() { creek::detail::metered_by = before_; }
  fake_chip(const fake_chip&) = delete;
  fake_chip& operator=(const fake_chip&) = delete;
  simulated_energy read() noexcept override { return at; }

  simulated_energy at;

 private:
  simulated_meter* before_;
};

}  // namespace creek::testing
