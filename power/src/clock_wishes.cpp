// SPDX-License-Identifier: Apache-2.0
#include "clock_wishes.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace creek::power::detail {

namespace {

/// Not destroyed: runtimes may be made while static objects go.
void say_once(const std::string& line) {
  static std::mutex lock;
  static auto& said = *new std::set<std::string>;
  const std::lock_guard guard(lock);
  if (said.insert(line).second) std::fputs(line.c_str(), stderr);
}

}  // namespace

void clock_wishes::begin(const power_site& site, std::string_view policy) {
  clocks_ = site.clocks;
  steps_ = site.clocks->clocks().size();
  last_.assign(site.workers, {});
  if (steps_ != 0) return;
  say_once("creek: policy '" + std::string(policy) +
           "' runs without control of clocks: " + site.clocks->why_not() + "\n");
}

}  // namespace creek::power::detail
