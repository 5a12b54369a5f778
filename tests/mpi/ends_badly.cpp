// SPDX-License-Identifier: Apache-2.0
// A run of which the last rank fails while the others wait for it, or that goes on until it is
// ended from outside. tests/mpi/ends.py and kills.py run it.
#include <creek/mpi.hpp>

#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

namespace {

/// Messages of several sizes and barriers for ever, or receives that nobody answers.
int go_on(creek::mpi_communicator& c, bool works) {
  c.doing("turning");
  std::printf("rank %d is process %d\n", c.rank(), getpid());
  std::fflush(stdout);
  const int next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
  std::vector<char> out(200'000, 'x'), in(out.size());
  for (unsigned turn = 0; works; ++turn) {
    const std::size_t bytes = turn % 7 == 0 ? out.size() : 1 + turn % 900;
    c.exchange(std::span<const char>(out.data(), bytes), next, std::span(in.data(), bytes),
               previous);
    if (turn % 5 == 0) c.barrier();
    (void)c.bcast(turn, static_cast<int>(turn) % c.size());
  }
  return c.recv<int>(previous);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "catches") std::signal(SIGTERM, [](int) { _exit(7); });
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& c) {
    const std::string how = argc > 1 ? argv[1] : "";
    c.barrier();
    if (how == "works" || how == "waits" || how == "catches") return go_on(c, how == "works");
    if (how == "all_throw") throw creek::error(ENOENT, "input.txt");
    if (c.rank() == c.size() - 1) {
      if (how == "throws") throw creek::error(ENOENT, "input.txt");
      if (how == "is_misused") throw creek::usage_error("17 is too many");
      if (how == "throws_a_number") throw 7;
      if (how == "is_killed") std::raise(SIGKILL);
      if (how == "exits") std::exit(0);
      if (how == "exits_at_once") _exit(0);
      if (how == "aborts") std::abort();
      if (how == "crashes") std::raise(SIGSEGV);
      if (how == "returns_3") return 3;
    }
    if (how == "returns_3") return 0;
    return c.recv<int>(c.size() - 1);
  });
}
