// SPDX-License-Identifier: Apache-2.0
#include "clock_wishes.hpp"

#include <string>

#include <creek/power/say_once.hpp>

namespace creek::power::detail {

void clock_wishes::begin(const power_site& site, std::string_view policy) {
  clocks_ = site.clocks;
  steps_ = site.clocks->clocks().size();
  last_.assign(site.workers, {});
  if (steps_ != 0) return;
  say_once("policy '" + std::string(policy) +
           "' runs without control of clocks: " + site.clocks->why_not());
}

}  // namespace creek::power::detail
