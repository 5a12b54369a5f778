// SPDX-License-Identifier: Apache-2.0
// The stall detector: a call that keeps its worker busy is named while it runs, once; waits and
// tasks are not. Calls continue until they are found; a short call would have to lose its
// processor for a quarter of a second to be found too.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <creek/core/charge.hpp>

#include "setups.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using creek::core_id;
using creek::make_on;
using creek::remote;

/// Collects the stalls found so far. Any thread.
class reports {
 public:
  void add(const creek::stall_report& found) {
    const std::lock_guard lock(mutex_);
    all_.push_back(found);
    ++count_;
  }
  int count() const { return count_.load(); }
  std::vector<creek::stall_report> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<creek::stall_report> all_;
  std::atomic<int> count_{0};
};

/// Works a little, in the kind of time that the detector measures.
void work() {
  creek::charge(creek::cycles{2000});
  std::this_thread::yield();
}

struct busy {
  reports* seen;
  void until_found(int count) {
    while (seen->count() < count) work();
  }
};

class Stall : public Conformance {
 protected:
  // Returns the time limit; on the simulated chip only charges take time.
  std::chrono::milliseconds limit() const { return is_simulated() ? 2ms : 250ms; }
  core_id last() const { return core_id{static_cast<int>(GetParam().workers) - 1}; }
  bool stays() const { return GetParam().backend != "tbb"; }

  template <class Body>
  void run_with(reports& seen, Body body) {
    run_with(seen, body, limit());
  }
  template <class Body>
  void run_with(reports& seen, Body body, std::chrono::nanoseconds with_limit) {
    creek::scheduler_options options{.workers = GetParam().workers};
    options.stall_limit = with_limit;
    options.on_stall = [&seen](const creek::stall_report& found) { seen.add(found); };
    creek::runtime rt = make_runtime(options, GetParam().backend);
    rt.run(body);
  }
};
CONFORMANCE(Stall);

TEST_P(Stall, IsNamedWhileItLasts) {
  reports seen;
  std::uint64_t object = 0;
  run_with(seen, [&] {
    const remote<busy> there = make_on<busy>(last(), busy{&seen});
    object = there.address().generation;
    there.call(&busy::until_found, 1);
    creek::call_on(last(), [&] {
      while (seen.count() < 2) work();
    });
  });
  const auto all = seen.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].object, object);
  EXPECT_EQ(all[1].object, 0U);
  EXPECT_NE(all[0].method.find("busy"), std::string::npos) << all[0].method;
  EXPECT_NE(all[0].method.find("(int)"), std::string::npos) << all[0].method;
  EXPECT_NE(all[1].method.find("lambda"), std::string::npos) << all[1].method;
  for (const auto& each : all) {
    EXPECT_GT(each.busy, std::chrono::nanoseconds{limit()});
    if (stays()) {
      EXPECT_EQ(each.worker, last());
    }
    EXPECT_EQ(each.method.find("bind_call"), std::string::npos) << each.method;
  }
}

TEST_P(Stall, IsNamedOnce) {
  reports seen;
  run_with(seen, [&] {
    creek::call_on(last(), [&] {
      while (seen.count() < 1) work();
      const auto end = std::chrono::steady_clock::now() + 2 * limit();
      while (std::chrono::steady_clock::now() < end) work();
    });
  });
  EXPECT_EQ(seen.count(), 1);
}

/// A call that waits releases its worker; its time starts anew when it continues.
TEST_P(Stall, AWaitDoesNotCount) {
  reports seen;
  std::uint64_t waits = 0, works = 0;
  run_with(seen, [&] {
    const remote<busy> waiting = make_on<busy>(last(), busy{&seen});
    const remote<busy> working = make_on<busy>(last(), busy{&seen});
    waits = waiting.address().generation;
    works = working.address().generation;
    creek::promise<void> over;
    creek::future<void> waited =
        waiting.async([](busy&, creek::future<void> until) { until.get(); }, over.get_future());
    working.call(&busy::until_found, 1);
    over.set_value();
    waited.get();
    // After the wait the time counts again.
    creek::promise<void> again;
    waited = waiting.async(
        [](busy& self, creek::future<void> until) {
          until.get();
          self.until_found(2);
        },
        again.get_future());
    again.set_value();
    waited.get();
  });
  const auto all = seen.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].object, works);
  EXPECT_EQ(all[1].object, waits);
}

TEST_P(Stall, TasksMayTakeTheirTime) {
  reports seen;
  run_with(seen, [&] {
    // This call is found. The task then works as long, on the same worker if there is only one.
    creek::call_on(last(), [&] {
      while (seen.count() < 1) work();
    });
    const auto end = std::chrono::steady_clock::now() + 2 * limit();
    while (std::chrono::steady_clock::now() < end) work();
    creek::call_on(last(), [] {});
  });
  EXPECT_EQ(seen.count(), 1);
}

/// Standard error, to be read while other threads write to it.
class caught_errors {
 public:
  caught_errors() {
    std::fflush(stderr);
    saved_ = dup(STDERR_FILENO);
    if (saved_ < 0 || pipe(ends_) != 0) std::abort();
    dup2(ends_[1], STDERR_FILENO);
  }
  caught_errors(const caught_errors&) = delete;
  caught_errors& operator=(const caught_errors&) = delete;
  ~caught_errors() {
    dup2(saved_, STDERR_FILENO);
    for (const int each : {saved_, ends_[0], ends_[1]}) close(each);
  }
  bool any() const {
    pollfd look{ends_[0], POLLIN, 0};
    return poll(&look, 1, 0) == 1;
  }
  std::string text() const {
    std::string read_so_far;
    for (char c = 0; any() && read(ends_[0], &c, 1) == 1;) read_so_far += c;
    return read_so_far;
  }

 private:
  int saved_ = -1;
  int ends_[2] = {};
};

TEST_P(Stall, IsWrittenToStandardError) {
  std::string text;
  {
    const caught_errors caught;
    creek::scheduler_options options{.workers = GetParam().workers};
    options.stall_limit = limit();
    {
      creek::runtime rt = make_runtime(options, GetParam().backend);
      rt.run([&] {
        make_on<int>(last(), 0).call([&](int&) {
          while (!caught.any()) work();
        });
      });
    }
    text = caught.text();
  }
  EXPECT_EQ(text.find("creek: a call of object "), 0U) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_P(Stall, RepeatsOnTheSimulatedChip) {
  if (!is_simulated()) GTEST_SKIP() << "host time does not repeat";
  const auto found = [&] {
    reports seen;
    run_with(seen, [&] { make_on<busy>(last(), busy{&seen}).call(&busy::until_found, 1); });
    return seen.all().at(0).busy;
  };
  EXPECT_EQ(found(), found());
}

TEST_P(Stall, IsOffAtZeroAndRefusesLess) {
  reports seen;
  run_with(
      seen,
      [&] {
        creek::call_on(last(), [&] {
          const auto end = std::chrono::steady_clock::now() + 2 * limit();
          while (std::chrono::steady_clock::now() < end) work();
        });
      },
      0ns);
  EXPECT_EQ(seen.count(), 0);
  EXPECT_THROW(run_with(
                   seen, [] {}, -1ns),
               creek::usage_error);
}

}  // namespace
