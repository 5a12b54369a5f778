// SPDX-License-Identifier: Apache-2.0
#include <creek/power/policies.hpp>

int main() {
  return creek::power::make_policy("polling")->name() == "polling" ? 0 : 1;
}
