// SPDX-License-Identifier: Apache-2.0
// Twenty kinds of forks, spawned tasks and groups in one file, as an ordinary program has them;
// only compiled (no_calls.cmake). A compiler that inlines by its own count leaves the fast path of
// a fork out of line in such a file, 2 of 5 ns.
#include <array>
#include <utility>

#include <creek/tasking.hpp>

namespace creek::support {

template <int Kind>
long forked(int n) {
  if (n < 2) return n + Kind;
  auto [a, b] = fork_join([=] { return forked<Kind>(n - 1); }, [=] { return forked<Kind>(n - 2); });
  return a + b;
}

template <int Kind>
long spawned(int n) {
  if (n < 2) return n + Kind;
  long a = 0;
  spawn([&a, n] { a = spawned<Kind>(n - 1); });
  const long b = spawned<Kind>(n - 2);
  taskwait();
  return a + b;
}

template <int Kind>
long grouped(int n) {
  if (n < 2) return n + Kind;
  long a = 0;
  task_group group;
  group.spawn([&a, n] { a = grouped<Kind>(n - 1); });
  const long b = grouped<Kind>(n - 2);
  group.wait();
  return a + b;
}

template <int Kind>
long forked_all(int n) {
  if (n < 2) return n + Kind;
  const auto results =
      fork_all<3>([=](std::size_t i) { return forked_all<Kind>(n - 1 - static_cast<int>(i)); });
  return results[0] + results[1] + results[2];
}

template <int... Kind>
constexpr std::array<long (*)(int), 4 * sizeof...(Kind)> all(std::integer_sequence<int, Kind...>) {
  return {&forked<Kind>..., &spawned<Kind>..., &grouped<Kind>..., &forked_all<Kind>...};
}

extern const std::array<long (*)(int), 80> kinds;
const std::array<long (*)(int), 80> kinds = all(std::make_integer_sequence<int, 20>());

}  // namespace creek::support
