// SPDX-License-Identifier: Apache-2.0
// A run of which the last rank fails while the others wait for it. tests/mpi/ends.py runs it.
#include <creek/mpi.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <creek/core/error.hpp>

int main(int argc, char** argv) {
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& c) {
    const std::string how = argc > 1 ? argv[1] : "";
    c.barrier();
    if (c.rank() == c.size() - 1) {
      if (how == "throws") throw creek::error(ENOENT, "input.txt");
      if (how == "throws_a_number") throw 7;
      if (how == "is_killed") std::raise(SIGKILL);
      if (how == "returns_3") return 3;
    }
    if (how == "returns_3") return 0;
    return c.recv<int>(c.size() - 1);
  });
}
