// SPDX-License-Identifier: Apache-2.0
// A tool that is built without meters of energy: no command has the flag `--energy`.
#include "output/energy.hpp"

namespace creek::tool {

void add_energy_option(command_line::command&) {}

json_value with_energy(json_value whole) {
  return whole;
}

void print_energy() {}

}  // namespace creek::tool
