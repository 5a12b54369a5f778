// SPDX-License-Identifier: Apache-2.0
// The event trace: the contents of the file, slices nest although events were dropped or left open,
// and a track is read while its worker writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/measuring/trace.hpp>

#include "../../core/src/json_text.hpp"
#include "support/few_cases.hpp"
#include "support/temporary_folder.hpp"

namespace creek {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class traces : public testing::Test {
 protected:
  json written(const trace::session& session) const {
    session.write(folder_ / "trace.json");
    std::ifstream in(folder_ / "trace.json");
    return json::parse(in);
  }

  support::temporary_folder folder_;
};

std::string by_nlohmann(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

TEST(json_text, strings_are_written_as_nlohmann_json_writes_them) {
  for (int first = 0; first < 256; first += support::few_cases ? 5 : 1) {
    for (int second = 0; second < 256; ++second) {
      const std::string two{static_cast<char>(first), static_cast<char>(second)};
      for (const char* rest : {"", "\x80", "\xBF\xBF\xBF",
                               "\x9F"
                               "a"}) {
        ASSERT_EQ(detail::json_string(two + rest), by_nlohmann(two + rest))
            << first << ' ' << second;
      }
    }
  }
}

// Returns the events of thread `tid` without metadata.
std::vector<json> events_of(const json& file, int tid) {
  std::vector<json> events;
  for (const json& e : file["traceEvents"]) {
    if (e["ph"] != "M" && e["tid"] == tid) events.push_back(e);
  }
  return events;
}

// Every end has its begin, nothing stays open, and time does not go back, on every track.
void expect_nesting(const json& file) {
  std::map<int, int> open;
  std::map<int, double> last;
  int unopened = 0, backwards = 0;
  for (const json& e : file["traceEvents"]) {
    if (e["ph"] == "M") continue;
    const int tid = e["tid"];
    if (e["ph"] == "B") ++open[tid];
    if (e["ph"] == "E") --open[tid];
    unopened += open[tid] < 0;
    backwards += e["ts"].get<double>() < last[tid];
    last[tid] = e["ts"];
  }
  EXPECT_EQ(unopened, 0);
  EXPECT_EQ(backwards, 0);
  for (const auto& [tid, count] : open) EXPECT_EQ(count, 0) << "track " << tid;
}

TEST_F(traces, a_null_track_records_nothing) {
  trace::begin(nullptr, "task");
  trace::instant(nullptr, "steal", 1);
  trace::flow_start(nullptr, "spawn", 1);
  trace::flow_end(nullptr, "spawn", 1);
  trace::end(nullptr);
  const trace::scope inside(nullptr, "scope");
}

TEST_F(traces, an_empty_session_is_a_valid_file) {
  const json file = written(trace::session{});
  EXPECT_EQ(file["displayTimeUnit"], "ns");
  EXPECT_EQ(file["traceEvents"].size(), 1U);  // the process name
  EXPECT_EQ(file["otherData"]["clock"], "host");
}

TEST_F(traces, names_process_and_threads) {
  trace::session session({.process_name = "wordcount"});
  session.add_track("worker 0");
  session.add_track("worker \"1\"\n");
  std::map<std::string, std::vector<std::string>> names;
  const json file = written(session);
  for (const json& e : file["traceEvents"]) {
    if (e["args"].contains("name")) names[e["name"]].push_back(e["args"]["name"]);
  }
  EXPECT_THAT(names["process_name"], testing::ElementsAre("wordcount"));
  EXPECT_THAT(names["thread_name"], testing::ElementsAre("worker 0", "worker \"1\"\n"));
}

TEST_F(traces, events_carry_kind_name_argument_and_time) {
  trace::session session;
  trace::track* track = &session.add_track("worker 0");
  trace::begin(track, "task", 7);
  {
    const trace::scope inner(track, "inner");
    trace::instant(track, "steal", -3);
  }
  trace::end(track, 8);
  const json file = written(session);
  expect_nesting(file);
  const auto events = events_of(file, 1);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["ph"], "B");
  EXPECT_EQ(events[0]["name"], "task");
  EXPECT_EQ(events[0]["args"]["value"], 7);
  EXPECT_FALSE(events[1].contains("args"));
  EXPECT_EQ(events[2]["ph"], "i");
  EXPECT_EQ(events[2]["args"]["value"], -3);
  EXPECT_EQ(events[4]["args"]["value"], 8);
}

TEST_F(traces, flows_pair_by_name_and_id) {
  trace::session session;
  trace::track* from = &session.add_track("worker 0");
  trace::track* to = &session.add_track("worker 1");
  trace::flow_start(from, "spawn", 42);
  trace::flow_end(to, "spawn", 42);
  const json file = written(session);
  const json start = events_of(file, 1).at(0), finish = events_of(file, 2).at(0);
  EXPECT_EQ(start["ph"], "s");
  EXPECT_EQ(finish["ph"], "f");
  EXPECT_EQ(finish["bp"], "e");
  for (const char* key : {"id", "name", "cat"}) EXPECT_EQ(start[key], finish[key]);
  EXPECT_EQ(start["id"], 42);
}

TEST_F(traces, an_arrow_can_begin_on_the_track_of_another) {
  trace::session session;
  trace::track* victim = &session.add_track("worker 0");
  trace::track* thief = &session.add_track("worker 1");
  trace::begin(victim, "maker");
  const ticks stolen_at = tick_clock::now();
  trace::end(victim);
  trace::begin(thief, "task");
  trace::flow_start_on(*victim, stolen_at, thief, "steal", 7);
  trace::flow_end(thief, "steal", 7);
  trace::flow_start_on(*victim, stolen_at, nullptr, "steal", 8);
  trace::end(thief);
  const json file = written(session);
  const std::vector<json> from = events_of(file, 1), to = events_of(file, 2);
  ASSERT_EQ(from.size(), 3U);
  ASSERT_EQ(to.size(), 3U);
  const json &start = from[2], &finish = to[1];
  EXPECT_EQ(start["ph"], "s");
  EXPECT_EQ(finish["ph"], "f");
  for (const char* key : {"id", "name", "cat"}) EXPECT_EQ(start[key], finish[key]);
  EXPECT_GE(start["ts"], from[0]["ts"]);
  EXPECT_LE(start["ts"], from[1]["ts"]) << "its slice is that of the maker";
}

TEST_F(traces, simulated_times_are_microseconds_with_every_femtosecond) {
  trace::session session({.base = trace::time_base::virtual_fs});
  trace::track& track = session.add_track("core 0");
  track.record(trace::event_kind::begin, ticks{1'234'567'000'089}, "task", trace::no_argument);
  track.record(trace::event_kind::end, ticks{9'000'000'000'000'000'005}, nullptr,
               trace::no_argument);
  session.write(folder_ / "virtual.json");
  std::ifstream in(folder_ / "virtual.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(text, testing::HasSubstr("\"ts\":1234.567000089}"));
  EXPECT_THAT(text, testing::HasSubstr("\"ts\":9000000000.000000005}"));
  EXPECT_EQ(json::parse(text)["otherData"]["clock"], "virtual");
}

TEST_F(traces, counters_have_their_value) {
  trace::session session;
  trace::counter(&session.add_track("island 0"), "power (mW)", 12'345);
  const json event = events_of(written(session), 1).at(0);
  EXPECT_EQ(event["ph"], "C");
  EXPECT_EQ(event["name"], "power (mW)");
  EXPECT_EQ(event["args"]["value"], 12'345);
}

TEST_F(traces, host_times_are_those_of_the_clock) {
  trace::session session;
  trace::track* track = &session.add_track("worker 0");
  const auto before = std::chrono::steady_clock::now();
  trace::begin(track, "spin");
  spin_for(std::chrono::milliseconds(5));
  trace::end(track);
  const std::chrono::duration<double, std::micro> outer = std::chrono::steady_clock::now() - before;
  const auto events = events_of(written(session), 1);
  const double spent = events[1]["ts"].get<double>() - events[0]["ts"].get<double>();
  EXPECT_GE(spent, 5000 * 0.998);  // the first rate is accurate to 1e-3
  EXPECT_LE(spent, outer.count() * 1.002);
}

TEST_F(traces, a_full_track_drops_the_newest_and_counts_them) {
  constexpr std::size_t chunk = std::size_t{256} << 10;
  trace::session session({.bytes_per_track = chunk});
  trace::track* track = &session.add_track("worker 0");
  constexpr int pairs = 6'000;
  for (int i = 0; i < pairs; ++i) {
    trace::begin(track, "outer", i);
    trace::begin(track, "inner");
    trace::end(track);
    trace::end(track);
  }
  const std::size_t kept = chunk / sizeof(trace::event);
  EXPECT_EQ(track->size(), kept);
  EXPECT_EQ(track->dropped(), 4 * pairs - kept);
  EXPECT_EQ(session.dropped(), track->dropped());
  const json file = written(session);
  expect_nesting(file);
  EXPECT_EQ(file["otherData"]["dropped_events"], 4 * pairs - kept);
  EXPECT_EQ(events_of(file, 1)[4]["args"]["value"], 1);  // the oldest are there
}

TEST_F(traces, open_and_unopened_slices_are_repaired) {
  trace::session session;
  trace::track* track = &session.add_track("worker 0");
  trace::end(track);  // tracing began inside a slice
  trace::begin(track, "a");
  trace::begin(track, "b");
  const json file = written(session);
  expect_nesting(file);
  EXPECT_EQ(events_of(file, 1).size(), 4U);
}

TEST_F(traces, interned_names_are_kept_and_need_not_be_utf8) {
  trace::session session;
  trace::track* track = &session.add_track("worker 0");
  {
    std::string gone = "label \x01 \xff";
    trace::instant(track, session.intern(gone));
    EXPECT_EQ(session.intern(gone).c_str(), session.intern(gone).c_str());
    gone.assign(gone.size(), '?');
  }
  const std::string name = events_of(written(session), 1).at(0)["name"];
  EXPECT_THAT(name, testing::StartsWith("label \x01 "));
}

TEST_F(traces, a_file_that_cannot_be_written_leaves_the_old_one) {
  trace::session session;
  EXPECT_THROW(session.write(folder_ / "missing" / "trace.json"), error);
  EXPECT_THROW(session.write("/dev/full"), error);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(traces, writing_while_workers_record_gives_a_whole_file) {
  trace::session session({.bytes_per_track = std::size_t{support::few_cases ? 64U : 512U} << 10});
  std::vector<std::jthread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([track = &session.add_track("worker")](std::stop_token stop) {
      while (!stop.stop_requested()) {
        const trace::scope outer(track, "outer", 1);
        const trace::scope inner(track, "inner");
      }
    });
  }
  for (int i = 0; i < 3; ++i) expect_nesting(written(session));
}

}  // namespace
}  // namespace creek
