// SPDX-License-Identifier: Apache-2.0
// Figures of networks: items, waits, and what would help; the trace.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/measuring/trace.hpp>
#include <creek/stream.hpp>
#include <creek/stream/report.hpp>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::stream::channel_figures;
using creek::stream::in;
using creek::stream::network;
using creek::stream::network_report;
using creek::stream::out;
using creek::stream::process_figures;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StreamReport : public Conformance {};
CONFORMANCE(StreamReport);

/// Takes 100 us: of the host, and of a clock of cycles.
void work() {
  creek::spin_for(std::chrono::microseconds(100));
  creek::charge(creek::cycles{53'300});
}

/// Runs two processes, of which the second takes much longer.
network_report slow_reader(creek::stream::network_options options) {
  network net(options);
  auto ends = net.make_channel<int>(4);
  net.add(
      "fast",
      [](out<int>& to) {
        for (int i = 0; i < 100; ++i) to.write(i);
      },
      std::move(ends.writer));
  net.add(
      "slow",
      [](in<int>& from) {
        for ([[maybe_unused]] const int each : from) work();
      },
      std::move(ends.reader));
  net.run();
  return net.report();
}

TEST_P(StreamReport, SaysHowManyItemsWereWritten) {
  in_each_runtime([] {
    const network_report report = slow_reader({});
    ASSERT_EQ(report.processes.size(), 2U);
    ASSERT_EQ(report.channels.size(), 1U);
    EXPECT_EQ(report.processes[1].name, "slow");
    const channel_figures& channel = report.channels[0];
    EXPECT_EQ(channel.items, 100U);
    EXPECT_EQ(channel.capacity, 4U);
    EXPECT_EQ(channel.writer, 0U);
    EXPECT_EQ(channel.reader, 1U);
    EXPECT_EQ(report.elapsed_s, 0);
    EXPECT_EQ(bottleneck(report), "no times were measured");
  });
}

TEST_P(StreamReport, MeasuresWhoWaits) {
  in_each_runtime([] {
    const network_report report = slow_reader({.measure = true});
    const process_figures &fast = report.processes[0], &slow = report.processes[1];
    EXPECT_GE(slow.active_s, 100 * 99.9e-6);
    EXPECT_LE(slow.active_s, report.elapsed_s);
    EXPECT_GT(fast.waited_room_s, 0);
    EXPECT_EQ(fast.waited_items_s, 0);
    EXPECT_GE(report.channels[0].writer_waits, 1U);
    EXPECT_DOUBLE_EQ(report.channels[0].writer_waited_s, fast.waited_room_s);
    EXPECT_THAT(to_string(report), AllOf(HasSubstr("fast -> slow"), HasSubstr("'slow'")));
  });
}

TEST_P(StreamReport, CountsTheTasksOfAParallelStage) {
  in_each_runtime([] {
    network_report report;
    int next = 0;
    creek::pipeline(
        {.report = &report}, [&] { return next < 50 ? std::optional<int>(next++) : std::nullopt; },
        creek::parallel_stage([](int i) {
          work();
          return i;
        }),
        [](int) {});
    double tasks = 0;
    for (const process_figures& each : report.processes) tasks += each.tasks_s;
    EXPECT_GE(tasks, 50 * 99.9e-6);
    EXPECT_EQ(report.channels.back().items, 50U);
  });
}

TEST(StreamEnergy, IsSharedByActivity) {
  network_report report{.elapsed_s = 10, .workers = 2, .processes = {}, .channels = {}};
  report.processes.push_back({.name = "one", .active_s = 2, .tasks_s = 1});
  report.processes.push_back({.name = "two", .active_s = 5, .waited_items_s = 5});
  EXPECT_THAT(to_string(report), Not(HasSubstr("joules")));
  EXPECT_THAT(to_dot(report), Not(HasSubstr(" J\"")));
  share_energy(report, 100, 6);
  EXPECT_DOUBLE_EQ(report.processes[0].joules, 18);
  EXPECT_DOUBLE_EQ(report.processes[1].joules, 30);
  EXPECT_THAT(to_string(report),
              AllOf(HasSubstr("joules\n"), HasSubstr(" 18.000\n"),
                    HasSubstr("idle workers and shared parts"), HasSubstr(" 52.000\n")));
  EXPECT_THAT(to_dot(report), HasSubstr("50 % active, 30 J\""));
}

TEST_P(StreamReport, IsMadeIfThePipelineFails) {
  in_each_runtime([] {
    network_report report;
    const std::vector<int> items{1, 2, 3};
    EXPECT_THROW(creek::pipeline({.report = &report}, items, [](int) { throw failure{1}; }),
                 creek::pipeline_error);
    EXPECT_EQ(report.processes.size(), 2U);
    network never;
    EXPECT_THROW((void)never.report(), creek::usage_error);
  });
}

TEST_P(StreamReport, TracesProcessesAndChannels) {
  if (is_simulated()) return;  // the chip has traces of its own
  in_each_runtime([] {
    creek::trace::session session;
    (void)slow_reader({.trace = &session});
    const auto file = std::filesystem::temp_directory_path() /
                      ("creek_stream_trace." + std::to_string(getpid()) + ".json");
    session.write(file);
    std::ifstream written(file);
    const std::string text(std::istreambuf_iterator<char>(written), {});
    std::filesystem::remove(file);
    EXPECT_THAT(
        text, AllOf(HasSubstr("\"slow\""), HasSubstr("\"active\""), HasSubstr("channel 0 (int)")));
  });
}

TEST_P(StreamReport, DoesNotCountTheWaitForTasksAsActivity) {
  in_each_runtime([] {
    network_report report;
    bool is_given = false;
    creek::pipeline(
        {.report = &report},
        [&] { return std::exchange(is_given, true) ? std::nullopt : std::optional(1); },
        creek::parallel_stage([](int i) {
          for (int j = 0; j < 200; ++j) work();
          return i;
        }),
        [](int) {});
    if (report.workers == 1) return;  // one worker runs the task in its wait
    const process_figures& start = report.processes[1];
    EXPECT_EQ(start.name, "stage 1, start");
    EXPECT_GE(start.tasks_s, 0.0199);
    EXPECT_LT(start.active_s, start.tasks_s);
  });
}

/// An item whose move fails when its channel grows.
struct moved_once {
  explicit moved_once(int* left) : moves_left(left) {}
  moved_once(moved_once&& from) : moves_left(from.moves_left) {
    if (--*moves_left < 0) throw failure{4};
  }
  moved_once& operator=(moved_once&&) = default;
  int* moves_left;
};

TEST_P(StreamReport, CountsItemsAlsoIfAChannelFailsToGrow) {
  in_each_runtime([] {
    int moves = 0;
    network net;
    auto grows = net.make_channel<moved_once>(2);
    auto other = net.make_channel<int>(1);
    net.add(
        "writer",
        [&](out<moved_once>& to, out<int>& last) {
          for (int i = 0; i < 10; ++i) {
            moves = 1;  // into the channel, and none when that grows
            to.write(moved_once(&moves));
          }
          last.write(1);
        },
        std::move(grows.writer), std::move(other.writer));
    net.add(
        "reader",
        [](in<int>& first, in<moved_once>& from) {
          (void)first.read();
          while (from.read()) {
          }
        },
        std::move(other.reader), std::move(grows.reader));
    EXPECT_ANY_THROW(net.run());
    EXPECT_LE(net.report().channels[0].items, 10U);
  });
}

process_figures active(const char* name, double seconds) {
  process_figures made;
  made.name = name;
  made.active_s = seconds;
  return made;
}

TEST(StreamBottleneck, IsTheProcessThatIsAlwaysActive) {
  const network_report report{1.0, 2, {active("a", 0.3), active("b", 0.95)}, {}};
  EXPECT_THAT(bottleneck(report), AllOf(HasSubstr("'b' was active for 95 %"),
                                        HasSubstr("let several work in its place")));
}

TEST(StreamBottleneck, IsASerialProcessBesideAParallelStage) {
  network_report report{1.0, 8, {active("source", 0.97), active("start", 0.01)}, {}};
  report.processes[1].tasks_s = 1.5;
  EXPECT_THAT(bottleneck(report), HasSubstr("'source' was active for 97 %"));
}

TEST(StreamBottleneck, IsTheProcessorsIfAllAreBusy) {
  const network_report report{1.0, 2, {active("a", 0.6), active("b", 0.7), active("c", 0.65)}, {}};
  EXPECT_THAT(bottleneck(report), HasSubstr("the 2 workers were busy, most of all for 'b' (70 %"));
}

TEST(StreamBottleneck, IsAChannelAtWhichBothEndsWait) {
  network_report report{1.0, 2, {active("a", 0.5), active("b", 0.5)}, {channel_figures{}}};
  channel_figures& channel = report.channels[0];
  channel.writer = 0;
  channel.reader = 1;
  channel.capacity = 4;
  channel.reader_waited_s = 0.4;
  channel.writer_waited_s = 0.3;
  EXPECT_THAT(bottleneck(report),
              HasSubstr("'a' waited for room and 'b' for items of the channel between them, 30 and "
                        "40 % of the time: a capacity above 4 would help"));
}

TEST(StreamBottleneck, IsOutsideIfTheSourceWaits) {
  network_report report{1.0, 2, {active("source", 0.05), active("sink", 0.1)}, {}};
  report.processes[0].waited_elsewhere_s = 0.9;
  EXPECT_EQ(bottleneck(report),
            "'source' waited for something outside the network for 90 % of the time");
}

TEST(StreamGraph, IsTextForGraphviz) {
  network_report report{2.0, 2, {active("a \"quoted\"", 1), active("b", 0.5)}, {channel_figures{}}};
  channel_figures& channel = report.channels[0];
  channel.item_type = "int";
  channel.writer = 0;
  channel.reader = 1;
  channel.items = 100;
  channel.capacity = 8;
  EXPECT_EQ(to_dot(report),
            "digraph network {\n"
            "  rankdir=LR;\n"
            "  node [shape=box];\n"
            "  p0 [label=\"a \\\"quoted\\\"\\n50 % active\"];\n"
            "  p1 [label=\"b\\n25 % active\"];\n"
            "  p0 -> p1 [label=\"int\\n100 items, 50/s\\nof 8\"];\n"
            "}\n");
}

}  // namespace
