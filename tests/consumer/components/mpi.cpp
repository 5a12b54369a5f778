// SPDX-License-Identifier: Apache-2.0
#include <creek/mpi.hpp>

int main() {
  return creek::ranks([](creek::mpi_communicator& c) { return c.size() == 1 ? 0 : 1; });
}
