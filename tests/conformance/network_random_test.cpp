// SPDX-License-Identifier: Apache-2.0
// Random networks with channels of one to four items, cycles, and processes that read in an order
// that needs larger channels, beside the same functions on whole lists.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <creek/stream.hpp>

#include "setups.hpp"
#include "support/few_cases.hpp"
#include "support/process_facts.hpp"
#include "support/seed.hpp"

namespace {

using namespace conformance;
using creek::stream::in;
using creek::stream::network;
using creek::stream::out;
using list = std::vector<int>;

class RandomNetwork : public Conformance {};
CONFORMANCE(RandomNetwork);

/// A network under construction, and what is to come out of it.
class builder {
 public:
  explicit builder(std::uint64_t seed) : random_(static_cast<unsigned>(seed)) {}

  void build(int steps) {
    add_source();
    for (int i = 0; i < steps; ++i) add_one();
    results_.resize(open_.size());
    for (std::size_t i = 0; i < open_.size(); ++i) {
      net_.add(
          "sink", [this, i](in<int>& from) { append_all(from, results_[i]); },
          std::move(open_[i].items));
    }
  }
  void run() { net_.run(); }
  void check() const {
    for (std::size_t i = 0; i < open_.size(); ++i) EXPECT_EQ(results_[i], open_[i].expected);
  }

 private:
  struct stream {
    in<int> items;
    list expected;
  };

  static void append_all(in<int>& from, list& to) {
    for (const int each : from) to.push_back(each);
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  auto channel() { return net_.make_channel<int>(static_cast<std::size_t>(1 + below(4))); }
  stream take() {
    const auto at = open_.begin() + below(static_cast<int>(open_.size()));
    stream taken = std::move(*at);
    open_.erase(at);
    return taken;
  }
  template <class Body, class... Ports>
  void add(const char* name, Body body, Ports... ports) {
    net_.add(name + std::to_string(++processes_), std::move(body), std::move(ports)...);
  }

  void add_one() {
    switch (open_.empty() ? 0 : below(9)) {
      case 0:
        return add_source();
      case 1:
        return add_map();
      case 2:
        return add_split();
      case 3:
        return add_tee();
      case 4:
        return add_alternating();
      case 5:
        return add_one_behind_the_other();
      case 6:
        return add_sums();
      case 7:
        return add_head();
      default:
        return add_pairs();
    }
  }

  void add_source() {
    list items(static_cast<std::size_t>(below(200)));
    for (int& each : items) each = below(1000);
    auto ends = channel();
    add(
        "source",
        [items](out<int>& to) {
          for (const int each : items) to.write(each);
        },
        std::move(ends.writer));
    open_.push_back({std::move(ends.reader), items});
  }

  void add_map() {
    stream from = take();
    auto ends = channel();
    add(
        "map",
        [](in<int>& items, out<int>& to) {
          while (const auto each = items.read()) to.write(3 * *each + 1);
        },
        std::move(from.items), std::move(ends.writer));
    for (int& each : from.expected) each = 3 * each + 1;
    open_.push_back({std::move(ends.reader), std::move(from.expected)});
  }

  /// Even items go to one output, odd ones to the other.
  void add_split() {
    stream from = take();
    auto even = channel(), odd = channel();
    add(
        "split",
        [](in<int>& items, out<int>& to_even, out<int>& to_odd) {
          while (const auto each = items.read()) (*each % 2 == 0 ? to_even : to_odd).write(*each);
        },
        std::move(from.items), std::move(even.writer), std::move(odd.writer));
    list evens, odds;
    for (const int each : from.expected) (each % 2 == 0 ? evens : odds).push_back(each);
    open_.push_back({std::move(even.reader), std::move(evens)});
    open_.push_back({std::move(odd.reader), std::move(odds)});
  }

  void add_tee() {
    stream from = take();
    auto one = channel(), two = channel();
    add(
        "tee",
        [](in<int>& items, out<int>& a, out<int>& b) {
          while (const auto each = items.read()) {
            a.write(*each);
            b.write(*each);
          }
        },
        std::move(from.items), std::move(one.writer), std::move(two.writer));
    open_.push_back({std::move(one.reader), from.expected});
    open_.push_back({std::move(two.reader), std::move(from.expected)});
  }

  void add_alternating() {
    if (open_.size() < 2) return;
    stream one = take(), two = take();
    auto ends = channel();
    add(
        "alternating",
        [](in<int>& a, in<int>& b, out<int>& to) {
          while (!a.at_end() || !b.at_end()) {
            if (const auto each = a.read()) to.write(*each);
            if (const auto each = b.read()) to.write(*each);
          }
        },
        std::move(one.items), std::move(two.items), std::move(ends.writer));
    list both;
    for (std::size_t i = 0; i < std::max(one.expected.size(), two.expected.size()); ++i) {
      if (i < one.expected.size()) both.push_back(one.expected[i]);
      if (i < two.expected.size()) both.push_back(two.expected[i]);
    }
    open_.push_back({std::move(ends.reader), std::move(both)});
  }

  /// Behind a split or a tee this needs a channel with room for all items of the second.
  void add_one_behind_the_other() {
    if (open_.size() < 2) return;
    stream one = take(), two = take();
    auto ends = channel();
    add(
        "behind",
        [](in<int>& a, in<int>& b, out<int>& to) {
          while (const auto each = a.read()) to.write(*each);
          while (const auto each = b.read()) to.write(*each);
        },
        std::move(one.items), std::move(two.items), std::move(ends.writer));
    one.expected.insert(one.expected.end(), two.expected.begin(), two.expected.end());
    open_.push_back({std::move(ends.reader), std::move(one.expected)});
  }

  /// The sum so far goes round a cycle of two processes.
  void add_sums() {
    stream from = take();
    auto ends = channel(), sum = channel(), last = channel();
    add(
        "adder",
        [](in<int>& items, in<int>& so_far, out<int>& next, out<int>& to) {
          while (const auto each = items.read()) {
            const int now = (*each + so_far.read().value()) % 1'000'003;
            next.write(now);
            to.write(now);
          }
        },
        std::move(from.items), std::move(last.reader), std::move(sum.writer),
        std::move(ends.writer));
    add(
        "last",
        [](in<int>& items, out<int>& to) {
          to.write(0);
          while (const auto each = items.read()) to.write(*each);
        },
        std::move(sum.reader), std::move(last.writer));
    int now = 0;
    for (int& each : from.expected) each = now = (each + now) % 1'000'003;
    open_.push_back({std::move(ends.reader), std::move(from.expected)});
  }

  /// Ends before its writer does.
  void add_head() {
    stream from = take();
    auto ends = channel();
    const int count = below(20);
    add(
        "head",
        [count](in<int>& items, out<int>& to) {
          for (int i = 0; i < count && !items.at_end(); ++i) to.write(items.read().value());
        },
        std::move(from.items), std::move(ends.writer));
    from.expected.resize(std::min(from.expected.size(), static_cast<std::size_t>(count)));
    open_.push_back({std::move(ends.reader), std::move(from.expected)});
  }

  void add_pairs() {
    if (open_.size() < 2) return;
    stream one = take(), two = take();
    auto ends = channel();
    add(
        "pairs",
        [](in<int>& a, in<int>& b, out<int>& to) {
          while (!a.at_end() && !b.at_end()) to.write(a.read().value() - b.read().value());
        },
        std::move(one.items), std::move(two.items), std::move(ends.writer));
    one.expected.resize(std::min(one.expected.size(), two.expected.size()));
    for (std::size_t i = 0; i < one.expected.size(); ++i) one.expected[i] -= two.expected[i];
    open_.push_back({std::move(ends.reader), std::move(one.expected)});
  }

  std::minstd_rand random_;
  network net_;
  std::vector<stream> open_;
  std::vector<list> results_;
  int processes_ = 0;
};

TEST_P(RandomNetwork, GivesTheSameStreamsAsFunctionsOfLists) {
  const std::uint64_t seed = creek::support::chosen_seed();
  std::printf("CREEK_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const bool is_slow = creek::support::under_tsan || creek::support::few_cases || !is_host();
  const int networks = is_slow ? 20 : 200;
  creek::runtime rt(creek::scheduler_options{.workers = GetParam().workers}, GetParam().backend);
  for (int i = 0; i < networks; ++i) {
    SCOPED_TRACE(i);
    builder one(seed + static_cast<std::uint64_t>(i));
    one.build(2 + i % 25);
    rt.run([&] { one.run(); });
    one.check();
    if (HasFailure()) break;
  }
}

}  // namespace
