// SPDX-License-Identifier: Apache-2.0
// A simulated chip whose time and energy a test sets; the thread that created it drives it.
#pragma once

#include <utility>

#include <creek/core/energy.hpp>

namespace creek::testing {

class fake_chip final : public backend_meter {
 public:
  fake_chip() : before_(backend_meter::exchange(this)) {}
  ~fake_chip() { backend_meter::exchange(before_); }
  fake_chip(const fake_chip&) = delete;
  fake_chip& operator=(const fake_chip&) = delete;
  metered_energy read() noexcept override { return at; }

  metered_energy at;

 private:
  backend_meter* before_;
};

}  // namespace creek::testing
