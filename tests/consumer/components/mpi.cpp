// SPDX-License-Identifier: Apache-2.0
#include <creek/mpi.hpp>

int main() {
  return creek::mpi_backend::spin_time(1).count() == 200 ? 0 : 1;
}
