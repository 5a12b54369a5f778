// SPDX-License-Identifier: Apache-2.0
// The first program of the README, compiled with nothing but the installed headers.
#include <creek/tasking.hpp>
#include <iostream>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main() {
  creek::runtime rt;  // all cores this process may use
  const long f = rt.run([] { return fib(25); });
  std::cout << "fib(25) = " << f << '\n';
  return f == 75025 ? 0 : 1;
}
