// SPDX-License-Identifier: Apache-2.0
// Objects on workers, groups and futures in a program whose linker gives functions of equal code
// one address (--icf=all): on every backend each must end, with the right results.
#include <atomic>
#include <cstdio>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <creek/tasking.hpp>

namespace {

std::atomic<int> alive{0};

struct counter {
  counter() { ++alive; }
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;
  ~counter() { --alive; }
  int add(int more) { return value += more; }
  void fail() { throw std::runtime_error("refused"); }
  int value = 0;
};

int objects() {
  int sum = 0;
  for (int round = 0; round < 50; ++round) {
    const auto one = creek::make_on<counter>(creek::core_id{round % 2});
    const auto copy = one;
    one.post(&counter::add, 1);
    auto later = copy.async(&counter::add, 1);
    sum += one.call([](counter& here) { return here.value; }) + later.get();
    if (round % 3 == 0) one.destroy();
  }
  return sum;
}

int group() {
  const auto all = creek::make_group<counter>();
  all.step(&counter::add, 3);
  all.async_step(&counter::add, 4).get();
  return all.reduce([](counter& here) { return here.value; }, std::plus{});
}

int failures() {
  const auto one = creek::make_on<counter>(creek::core_id{1});
  int caught = 0;
  try {
    one.call(&counter::fail);
  } catch (const std::runtime_error&) {
    ++caught;
  }
  try {
    one.async(&counter::fail).get();
  } catch (const std::runtime_error&) {
    ++caught;
  }
  return caught;
}

int futures() {
  std::vector<creek::future<int>> some;
  for (int i = 0; i < 10; ++i) {
    some.push_back(creek::async([=] { return i; }).then([](int value) { return 2 * value; }));
  }
  auto sum = creek::when_all(std::move(some)).then([](const std::vector<int>& all) {
    return std::accumulate(all.begin(), all.end(), 0);
  });
  return sum.get();
}

bool is_right(const std::string& backend) {
  int results[4] = {};
  {
    creek::runtime rt(creek::scheduler_options{.workers = 2}, backend);
    rt.run([&] {
      results[0] = objects();
      results[1] = group();
      results[2] = failures();
      results[3] = futures();
    });
  }
  std::printf("%s: %d %d %d %d, %d left\n", backend.c_str(), results[0], results[1], results[2],
              results[3], alive.load());
  return results[0] == 200 && results[1] == 14 && results[2] == 2 && results[3] == 90 && alive == 0;
}

}  // namespace

int main() {
  bool right = true;
  for (const std::string& backend : creek::backends()) right = is_right(backend) && right;
  return right ? 0 : 1;
}
