// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <creek/core/topology.hpp>

int main() {
  std::puts(to_json(creek::topology::flat(2)).c_str());
}
