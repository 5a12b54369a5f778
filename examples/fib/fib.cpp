// SPDX-License-Identifier: Apache-2.0
// Fork-join: both branches of the recursion may run at the same time.
#include <cstdio>
#include <cstdlib>

#include <creek/tasking.hpp>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main(int count, char** arguments) {
  const int n = count > 1 ? std::atoi(arguments[1]) : 30;
  creek::runtime rt;  // one worker for each CPU that this process may use
  std::printf("fib(%d) = %ld\n", n, rt.run([n] { return fib(n); }));
}
