// SPDX-License-Identifier: Apache-2.0
// Workers that only serve (scheduler_options::serve_only): they take no tasks, answer calls, and
// do not prevent other work from continuing or ending.
#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::core_id;
using creek::make_on;
using creek::remote;

class Service : public Conformance {
 protected:
  void SetUp() override {
    if (GetParam().workers == 1) GTEST_SKIP() << "one worker has to take tasks";
  }
  /// Returns the last worker, and with four or more workers a second one.
  std::vector<core_id> chosen() const {
    const int workers = static_cast<int>(GetParam().workers);
    std::vector<core_id> named{core_id{workers - 1}};
    if (workers >= 4) named.emplace_back(1);
    return named;
  }
  bool is_chosen(int worker) const {
    const auto all = chosen();
    return std::find(all.begin(), all.end(), core_id{worker}) != all.end();
  }
  /// Returns false on tbb, where every worker does everything.
  bool means_something() const { return GetParam().backend != "tbb"; }
  core_id last() const { return chosen().front(); }

  template <class Body>
  void on_each(Body body) {
    for (creek::scheduler_options options : variants(GetParam())) {
      SCOPED_TRACE(describe(options));
      options.serve_only = chosen();
      options.deque_capacity = 2048;
      creek::runtime rt = make_runtime(options, GetParam().backend);
      body(rt);
      if (HasFatalFailure()) return;
    }
  }
  template <class Body>
  void in_each(Body body) {
    on_each([&](creek::runtime& rt) { rt.run(body); });
  }
};
CONFORMANCE(Service);

/// Records the workers on which tasks run.
class places {
 public:
  void note() {
    const int here = creek::this_worker();
    if (here >= 0 && here < 48) seen_[static_cast<std::size_t>(here)] = true;
  }
  bool seen(int worker) const { return seen_[static_cast<std::size_t>(worker)]; }

 private:
  std::array<std::atomic<bool>, 48> seen_{};
};

TEST_P(Service, TakesNoTasks) {
  on_each([&](creek::runtime& rt) {
    places tasks;
    const auto note = [&] { tasks.note(); };
    const auto fork = [&](auto&& self, int depth) -> void {
      note();
      if (depth > 0)
        creek::fork_join([&] { self(self, depth - 1); }, [&] { self(self, depth - 1); });
    };
    std::vector<creek::future<void>> outside;
    for (int i = 0; i < 20; ++i) outside.push_back(rt.async(note));
    rt.run([&] {
      note();
      fork(fork, 7);
      for (int i = 0; i < 200; ++i) creek::spawn(note);
      creek::taskwait();
      std::vector<creek::future<void>> all;
      for (int i = 0; i < 50; ++i) {
        all.push_back(creek::async([&] {
          note();
          creek::async(note).get();
          note();  // a strand that was resumed
        }));
      }
      for (auto& each : all) each.get();
      creek::parallel_for(0, 1000, [&](int) { note(); });
      note();
    });
    for (auto& each : outside) each.get();
    if (!means_something()) return;
    for (const core_id each : chosen()) EXPECT_FALSE(tasks.seen(each.value)) << each.value;
  });
}

TEST_P(Service, AnswersCalls) {
  in_each([&] {
    const remote<std::vector<int>> there = make_on<std::vector<int>>(last());
    const auto add = [](std::vector<int>& v, int n) {
      v.push_back(n);
      return creek::this_worker();
    };
    for (int i = 0; i < 100; ++i) {
      const int ran = i % 2 == 0 ? there.call(add, i) : there.async(add, i).get();
      if (means_something()) {
        EXPECT_EQ(ran, last().value);
        EXPECT_FALSE(is_chosen(creek::this_worker())) << "the caller goes on elsewhere";
      }
    }
    EXPECT_EQ(there.call([](std::vector<int>& v) { return v.size(); }), 100U);
    if (means_something()) {
      EXPECT_EQ(creek::call_on(last(), [] { return creek::this_worker(); }), last().value);
    }
  });
}

TEST_P(Service, ACallForksAndWaitsAndStays) {
  in_each([&] {
    struct worker {
      int moved = 0;
      long compute() {
        const int home = creek::this_worker();
        long sum = 0;
        for (int i = 0; i < 10; ++i) {
          sum += fib(8);
          moved += creek::this_worker() != home;
          sum += creek::async([] { return fib(5); }).get();
          moved += creek::this_worker() != home;
          creek::task_group group;
          std::atomic<int> ran{0};
          for (int n = 0; n < 10; ++n) group.spawn([&] { ++ran; });
          group.wait();
          sum += ran;
          moved += creek::this_worker() != home;
        }
        return sum;
      }
    };
    const remote<worker> there = make_on<worker>(last());
    EXPECT_EQ(there.call(&worker::compute), 10 * (fib_sequential(8) + fib_sequential(5) + 10));
    if (means_something()) {
      EXPECT_EQ(there.call(&worker::moved), 0);
    }
  });
}

/// Tasks that a call leaves behind finish with it, though its worker takes no tasks.
TEST_P(Service, ACallsSpawnedTasksEndWithIt) {
  in_each([&] {
    for (int round = 0; round < 10; ++round) {
      std::atomic<int> ran{0};
      creek::call_on(last(), [&] {
        for (int i = 0; i < 50; ++i) {
          creek::spawn([&] {
            creek::spawn([&] { ++ran; });
            ++ran;
          });
        }
      });
      EXPECT_EQ(ran.load(), 100);
    }
  });
}

TEST_P(Service, ServiceWorkersCallEachOtherAndTheRest) {
  struct relay {
    remote<relay> next;
    int pass(int hops) { return hops == 0 ? 0 : next.call(&relay::pass, hops - 1) + 1; }
  };
  in_each([&] {
    std::vector<remote<relay>> ring;
    for (int i = 0; i < 12; ++i) {
      ring.push_back(make_on<relay>(
          i % 3 == 0 ? core_id{0} : chosen()[static_cast<std::size_t>(i) % chosen().size()]));
    }
    for (std::size_t i = 0; i + 1 < ring.size(); ++i) {
      ring[i].call([](relay& r, const remote<relay>& next) { r.next = next; }, ring[i + 1]);
    }
    EXPECT_EQ(ring[0].call(&relay::pass, 11), 11);
  });
}

TEST_P(Service, EndsWithCallsUnderWay) {
  std::atomic<int> alive{0}, ran{0};
  int posted = 0;
  on_each([&](creek::runtime& rt) {
    remote<counted> left = rt.run([&] {
      for (const core_id each : chosen()) {
        for (int i = 0; i < 20; ++i, ++posted) {
          creek::post_on(each, [&] {
            creek::async([&] { return fib(4); }).get();
            ++ran;
          });
        }
      }
      return make_on<counted>(last(), std::ref(alive));
    });
    left.call([](counted&) {});  // from a thread outside
    left.post([](counted&) { fib(6); });
  });
  EXPECT_EQ(ran.load(), posted);
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(Service, RuntimesWithoutACallEnd) {
  on_each([&](creek::runtime&) {});
  on_each([&](creek::runtime& rt) { EXPECT_EQ(rt.run([] { return fib(10); }), 55); });
}

class ServiceOptions : public Conformance {
 protected:
  std::string refusal(std::vector<core_id> named) const {
    try {
      creek::scheduler_options options{.workers = GetParam().workers};
      options.serve_only = std::move(named);
      creek::runtime rt(options, GetParam().backend);
    } catch (const creek::usage_error& refused) {
      return refused.what();
    }
    return "accepted";
  }
};
CONFORMANCE(ServiceOptions);

TEST_P(ServiceOptions, RefuseWhatCannotBe) {
  const int workers = static_cast<int>(GetParam().workers);
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string missing = refusal({core_id{workers}});
  EXPECT_TRUE(says(missing, "serve_only: there is no worker " + std::to_string(workers)))
      << missing;
  EXPECT_TRUE(says(refusal({core_id{-1}}), "there is no worker -1"));
  std::vector<core_id> all;
  for (int i = 0; i < workers; ++i) all.emplace_back(i);
  EXPECT_TRUE(says(refusal(all), "serve_only: names all"));
  if (workers == 1) return;
  EXPECT_EQ(refusal({core_id{workers - 1}, core_id{workers - 1}}), "accepted");
  const std::string first = refusal({core_id{0}});
  if (is_simulated()) {
    EXPECT_TRUE(says(first, "serve_only names core 0")) << first;
  } else {
    EXPECT_EQ(first, "accepted");
  }
}

}  // namespace
