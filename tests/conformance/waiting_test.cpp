// SPDX-License-Identifier: Apache-2.0
// Programs that end only if a wait never blocks another task: a task that blocks must give
// its worker to others, and a task that is not waited for must not delay the waiting task below it
// on the same stack. Every case would hang, at the latest on one worker.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Waiting : public Conformance {};
CONFORMANCE(Waiting);

/// Calls make(i) for the links of a chain in every order; link i waits for link i - 1.
template <class Start>
void chain_in_every_order(Start start) {
  constexpr std::size_t links = 4;
  std::array<std::size_t, links> order{};
  std::iota(order.begin(), order.end(), 0);
  do {
    std::array<creek::promise<int>, links + 1> promises;
    std::array<creek::future<int>, links + 1> futures;
    for (std::size_t i = 0; i <= links; ++i) futures[i] = promises[i].get_future();
    const auto link = [&](std::size_t i) {
      return [&, i] { promises[i + 1].set_value(futures[i].get() + 1); };
    };
    start(order, link, promises[0]);
    EXPECT_EQ(futures[links].get(), static_cast<int>(links));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(Waiting, ChainsOfChildrenInEveryOrder) {
  in_each_runtime([] {
    chain_in_every_order([](const auto& order, auto link, auto& first) {
      first.set_value(0);
      for (const std::size_t i : order) creek::spawn(link(i));
      creek::taskwait();
    });
  });
}

TEST_P(Waiting, ChainsOfAGroupInEveryOrder) {
  in_each_runtime([] {
    chain_in_every_order([](const auto& order, auto link, auto& first) {
      creek::task_group group;
      for (const std::size_t i : order) group.spawn(link(i));
      first.set_value(0);
      group.wait();
    });
  });
}

TEST_P(Waiting, ChainsOfFuturesInEveryOrder) {
  in_each_runtime([] {
    chain_in_every_order([](const auto& order, auto link, auto& first) {
      std::vector<creek::future<void>> tasks;
      for (const std::size_t i : order) tasks.push_back(creek::async(link(i)));
      first.set_value(0);
      for (auto& task : tasks) task.get();
    });
  });
}

TEST_P(Waiting, ChainsOfBranchesInEveryOrder) {
  in_each_runtime([] {
    chain_in_every_order([](const auto& order, auto link, auto& first) {
      first.set_value(0);
      creek::fork_join(link(order[0]), link(order[1]), link(order[2]), link(order[3]));
    });
  });
}

TEST_P(Waiting, ParentAndChildWaitForOneAnother) {
  in_each_runtime([] {
    creek::promise<int> ping, pong;
    auto pinged = ping.get_future(), ponged = pong.get_future();
    creek::spawn([&] { pong.set_value(pinged.get() + 1); });
    ping.set_value(1);
    EXPECT_EQ(ponged.get(), 2);
    creek::taskwait();
  });
}

TEST_P(Waiting, PingPong) {
  in_each_runtime([] {
    constexpr std::size_t rounds = 30;
    std::vector<creek::promise<void>> ping(rounds), pong(rounds);
    std::vector<creek::future<void>> pinged, ponged;
    for (auto& each : ping) pinged.push_back(each.get_future());
    for (auto& each : pong) ponged.push_back(each.get_future());
    creek::spawn([&] {
      for (std::size_t i = 0; i < rounds; ++i) {
        pinged[i].get();
        pong[i].set_value();
      }
    });
    for (std::size_t i = 0; i < rounds; ++i) {
      ping[i].set_value();
      ponged[i].get();
    }
    creek::taskwait();
  });
}

/// A task that waits for the gate that its creator opens later.
struct gated {
  creek::promise<void> promise;
  creek::future<void> gate = promise.get_future();
  std::atomic<bool> passed{false};

  auto task() {
    return [this] {
      gate.wait();
      passed = true;
    };
  }
  void open() { promise.set_value(); }
};

TEST_P(Waiting, AJoinDoesNotWaitForWhatABranchSpawned) {
  in_each_runtime([] {
    gated g;
    bool ran = false;
    creek::fork_join([&] { creek::spawn(g.task()); }, [&] { ran = true; });
    EXPECT_TRUE(ran);
    g.open();
    creek::taskwait();
    EXPECT_TRUE(g.passed);
  });
}

TEST_P(Waiting, AJoinInsideATaskWithGatedChildren) {
  in_each_runtime([] {
    gated g;
    creek::spawn(g.task());
    EXPECT_EQ(creek::fork_join([] { return 1; }, [] { return 2; }), std::pair(1, 2));
    g.open();
    creek::taskwait();
    EXPECT_TRUE(g.passed);
  });
}

TEST_P(Waiting, TaskwaitDoesNotWaitForGatedGrandchildren) {
  in_each_runtime([] {
    gated g;
    creek::spawn([] {});
    creek::spawn([&] { creek::spawn(g.task()); });
    creek::taskwait();
    g.open();
    creek::taskbarrier();
    EXPECT_TRUE(g.passed);
  });
}

TEST_P(Waiting, AGroupDoesNotWaitForGatedChildren) {
  in_each_runtime([] {
    gated g;
    creek::task_group group;
    bool ran = false;
    group.spawn([&] { ran = true; });
    creek::spawn(g.task());
    group.wait();
    EXPECT_TRUE(ran);
    g.open();
    creek::taskwait();
    EXPECT_TRUE(g.passed);
  });
}

TEST_P(Waiting, TaskwaitDoesNotWaitForAGatedGroup) {
  in_each_runtime([] {
    gated g;
    creek::task_group group;
    creek::spawn([] {});
    group.spawn(g.task());
    creek::taskwait();
    g.open();
    group.wait();
    EXPECT_TRUE(g.passed);
  });
}

TEST_P(Waiting, AFutureDoesNotWaitForGatedChildren) {
  in_each_runtime([] {
    gated g;
    auto future = creek::async([] { return 1; });
    creek::spawn(g.task());
    EXPECT_EQ(future.get(), 1);
    g.open();
    creek::taskwait();
    EXPECT_TRUE(g.passed);
  });
}

TEST_P(Waiting, GatesAcrossManyWaits) {
  in_each_runtime([] {
    for (int round = 0; round < 5; ++round) {
      std::array<gated, 6> gates;
      for (gated& each : gates) creek::spawn(each.task());
      for (gated& each : gates) {
        creek::fork_join([] {}, [] {});
        each.open();
        EXPECT_EQ(creek::async([] { return 1; }).get(), 1);
      }
      creek::taskwait();
      EXPECT_TRUE(
          std::all_of(gates.begin(), gates.end(), [](gated& g) { return g.passed.load(); }));
    }
  });
}

TEST_P(Waiting, ManyTasksMayBeSuspendedAtOnce) {
  in_each_runtime([] {
    creek::promise<void> promise;
    auto gate = promise.get_future();
    std::atomic<int> passed{0};
    for (int i = 0; i < 64; ++i) {
      creek::spawn([&] {
        gate.wait();
        ++passed;
      });
    }
    promise.set_value();
    creek::taskwait();
    EXPECT_EQ(passed, 64);
  });
}

TEST_P(Waiting, AForeignThreadOpensTheGateOfSuspendedTasks) {
  on_each_runtime([](creek::runtime& rt) {
    gated g;
    creek::promise<void> begun;
    auto has_begun = begun.get_future();
    std::jthread opener([&] {
      has_begun.wait();
      g.open();
    });
    rt.run([&] {
      creek::spawn([&] {
        begun.set_value();
        g.task()();
      });
      creek::fork_join([] {}, g.task());
      creek::taskwait();
    });
  });
}

}  // namespace
