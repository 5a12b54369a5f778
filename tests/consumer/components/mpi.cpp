// SPDX-License-Identifier: Apache-2.0
#include <creek/mpi.hpp>

int main() {
  return creek::mpi_backend::spin_time().count() == 20 ? 0 : 1;
}
