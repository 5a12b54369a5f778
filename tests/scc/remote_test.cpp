// SPDX-License-Identifier: Apache-2.0
// Objects on simulated cores, by every message protocol: clean under the coherence checker, the
// same in every run, and refused if the memory does not suffice.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <creek/scc.hpp>
#include <creek/tasking.hpp>

namespace {

using namespace creek;
using scc_backend::chip;
using scc_backend::task_report;

struct shard {
  long sum = 0;
  remote<shard> next;
  void add(int by) { sum += by; }
  long total() const { return sum; }
  long pass(int hops) { return hops == 0 ? sum : next.call(&shard::pass, hops - 1); }
};

class RemoteOnChip : public testing::TestWithParam<message_protocol> {
 protected:
  static task_report run(message_protocol by, unsigned workers, const std::function<void()>& body) {
    task_report report;
    scheduler_options options;
    options.workers = workers;
    options.messages = by;
    scc chosen(options);
    chosen.machine.check = true;
    chosen.report = &report;
    {
      runtime rt(chosen);
      rt.run(body);
    }
    return report;
  }
  /// Posts and calls from all cores to all, chains of calls, and steps of a group.
  static void mix(int workers) {
    const group<shard> all = make_group<shard>();
    for (int i = 0; i < workers; ++i) {
      all[i].call([](shard& s, const remote<shard>& next) { s.next = next; },
                  all[(i + 1) % workers]);
    }
    task_group callers;
    for (int from = 0; from < workers; ++from) {
      callers.spawn([=] {
        for (int i = 0; i < 12; ++i) {
          const int to = (from * 5 + i * 3) % workers;
          if (i % 4 == 0) {
            all[to].call(&shard::add, 1);
          } else {
            all[to].post(&shard::add, 1);
          }
        }
      });
    }
    callers.wait();
    all.barrier();
    EXPECT_EQ(all.reduce(&shard::total, std::plus{}), 12 * workers);
    all[0].call(&shard::pass, workers - 1);
    all.step([](shard& s) { s.next = {}; });
  }
};

TEST_P(RemoteOnChip, IsCleanAndRepeats) {
  for (const int workers : {1, 2, 12}) {
    const auto body = [=] { mix(workers); };
    const task_report one = run(GetParam(), static_cast<unsigned>(workers), body);
    const task_report two = run(GetParam(), static_cast<unsigned>(workers), body);
    EXPECT_TRUE(one.faults.empty());
    EXPECT_EQ(one.schedule, two.schedule);
    EXPECT_EQ(one.ended, two.ended);
    EXPECT_EQ(one.counters[counter::messages], two.counters[counter::messages]);
    EXPECT_GT(one.counters[counter::messages], 12U * static_cast<unsigned>(workers));
  }
}

TEST_P(RemoteOnChip, WorksOnAllCores) {
  const task_report report = run(GetParam(), 48, [] { mix(48); });
  EXPECT_TRUE(report.faults.empty());
}

INSTANTIATE_TEST_SUITE_P(by, RemoteOnChip,
                         testing::Values(message_protocol::notification_vector,
                                         message_protocol::synchronized_ring,
                                         message_protocol::flagged_slot,
                                         message_protocol::linked_messages,
                                         message_protocol::pair_ring),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(RemoteOnSmallChip, SaysThatThereIsNoRoomForMessages) {
  scc chosen(4);
  chosen.machine.description.mpb_bytes = 3072;
  runtime rt(chosen);
  const auto make = [] { (void)make_on<shard>(core_id{1}); };
  try {
    rt.run(make);
    ADD_FAILURE() << "not refused";
  } catch (const usage_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("no room for messages"), std::string::npos);
  }
  EXPECT_EQ(rt.run([] { return 1; }), 1) << "the runtime goes on";
}

TEST(RemoteByRingsPerPair, SayHowManyWorkersFit) {
  scheduler_options options;
  options.messages = message_protocol::pair_ring;
  options.deque_capacity = 20;
  const auto made_with = [&](unsigned workers) {
    options.workers = workers;
    runtime rt{scc(options)};
    return rt.run([] { return make_on<shard>(core_id{1}).call(&shard::total); });
  };
  try {
    (void)made_with(48);
    ADD_FAILURE() << "not refused";
  } catch (const usage_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("at most 37 workers fit"), std::string::npos)
        << refused.what();
  }
  EXPECT_EQ(made_with(37), 0);
  EXPECT_THROW((void)made_with(38), usage_error);
}

TEST(RemoteOnLittleMemory, CallsFromThreadsOutsideGoByTheFirstCore) {
  runtime rt{scc(4)};
  const remote<shard> there = rt.run([] { return make_on<shard>(core_id{3}); });
  for (int i = 0; i < 20; ++i) there.post(&shard::add, 2);
  EXPECT_EQ(there.call(&shard::total), 40);
  EXPECT_EQ(there.async(&shard::total).get(), 40);
}

}  // namespace
