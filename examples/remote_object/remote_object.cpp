// SPDX-License-Identifier: Apache-2.0
// An object that lives on one worker. Others send it calls, which run one at a time: no lock.
#include <cstdio>

#include <creek/tasking.hpp>

struct counter {
  long value = 0;
  void add(long n) { value += n; }
};

int main() {
  creek::runtime rt;
  const long sum = rt.run([] {
    const creek::remote<counter> total = creek::make_on<counter>(creek::core_id{0});
    creek::parallel_for(0, 1000, [&](int i) { total.call(&counter::add, i); });
    return total.call(&counter::value);
  });
  std::printf("sum of 0 to 999: %ld\n", sum);
  return sum == 499500 ? 0 : 1;
}
