// SPDX-License-Identifier: Apache-2.0
// Options by name and from the environment, and the text of every refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/tasking.hpp>

namespace creek::support {
namespace {

/// Sets one variable for one test and restores its former value.
class environment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : names) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static scheduler_options with(const char* name, const char* value) {
    setenv(name, value, 1);
    const scheduler_options options = scheduler_options::from_environment();
    unsetenv(name);
    return options;
  }
  static std::string refusal(const char* name, const char* value) {
    try {
      with(name, value);
    } catch (const usage_error& failure) {
      unsetenv(name);
      return failure.what();
    }
    return "accepted";
  }
  static constexpr const char* names[] = {
      "CREEK_BACKEND",    "CREEK_WORKERS",         "CREEK_PIN",
      "CREEK_SCHEDULER",  "CREEK_DEQUE",           "CREEK_IDLE",
      "CREEK_STACK_SIZE", "CREEK_SERVE_ONLY",      "CREEK_STALL_LIMIT",
      "CREEK_HANG_LIMIT", "CREEK_DUMP_ON_SIGQUIT", "CREEK_SPIN_WAIT"};
};

TEST_F(environment, that_says_nothing_gives_the_defaults) {
  const scheduler_options options = scheduler_options::from_environment();
  EXPECT_EQ(options.workers, 0U);
  EXPECT_FALSE(options.pin);
  EXPECT_EQ(options.scheduler, scheduler_kind::stealing_random);
  EXPECT_EQ(options.deque, deque_kind::host);
  EXPECT_EQ(options.idle, idle_policy::block);
  EXPECT_EQ(options.stack_size, std::size_t{1} << 20);
}

TEST_F(environment, sets_each_option) {
  EXPECT_EQ(with("CREEK_WORKERS", "3").workers, 3U);
  EXPECT_EQ(with("CREEK_WORKERS", "4096").workers, 4096U);
  EXPECT_TRUE(with("CREEK_PIN", "1").pin);
  EXPECT_FALSE(with("CREEK_PIN", "0").pin);
  EXPECT_EQ(with("CREEK_SCHEDULER", "latency").scheduler, scheduler_kind::stealing_latency);
  EXPECT_EQ(with("CREEK_DEQUE", "mpb").deque, deque_kind::mpb);
  EXPECT_EQ(with("CREEK_IDLE", "poll").idle, idle_policy::poll);
  EXPECT_EQ(with("CREEK_SPIN_WAIT", "250").spin_wait, std::chrono::microseconds{250});
  EXPECT_EQ(with("CREEK_STALL_LIMIT", "250").stall_limit, std::chrono::milliseconds{250});
  EXPECT_EQ(with("CREEK_STALL_LIMIT", "0").stall_limit, std::chrono::nanoseconds{0});
  EXPECT_EQ(with("CREEK_HANG_LIMIT", "3").hang_limit, std::chrono::seconds{3});
  EXPECT_TRUE(with("CREEK_DUMP_ON_SIGQUIT", "1").dump_on_sigquit);
  EXPECT_EQ(with("CREEK_SERVE_ONLY", "3").serve_only, std::vector{core_id{3}});
  EXPECT_EQ(with("CREEK_SERVE_ONLY", "3,0,5").serve_only,
            (std::vector{core_id{3}, core_id{0}, core_id{5}}));
  EXPECT_EQ(with("CREEK_STACK_SIZE", "16384").stack_size, 16384U);
  EXPECT_EQ(with("CREEK_STACK_SIZE", "4294967296").stack_size, std::size_t{1} << 32);
}

TEST_F(environment, that_is_empty_counts_as_unset) {
  for (const char* name : names) EXPECT_EQ(refusal(name, ""), "accepted") << name;
}

TEST_F(environment, with_bad_numbers_is_refused) {
  const std::string range = "give a whole number from 1 to 4096";
  for (const std::string bad :
       {"0", "4097", "-1", "two", "2x", "2 ", " 2", "2.5", "0x2", "99999999999999999999999"}) {
    EXPECT_EQ(refusal("CREEK_WORKERS", bad.c_str()), "CREEK_WORKERS='" + bad + "': " + range);
  }
  EXPECT_EQ(refusal("CREEK_PIN", "yes"), "CREEK_PIN='yes': give a whole number from 0 to 1");
  for (const std::string bad : {"1,", ",1", "1,,2", "1;2", "1, 2", "-1", "4096", "all"}) {
    EXPECT_THAT(refusal("CREEK_SERVE_ONLY", bad.c_str()),
                ::testing::EndsWith("give a whole number from 0 to 4095"))
        << bad;
  }
  EXPECT_EQ(refusal("CREEK_HANG_LIMIT", "-1"),
            "CREEK_HANG_LIMIT='-1': give a whole number from 0 to 86400");
  EXPECT_EQ(refusal("CREEK_SPIN_WAIT", "1ms"),
            "CREEK_SPIN_WAIT='1ms': give a whole number from 0 to 60000000");
  EXPECT_EQ(refusal("CREEK_STALL_LIMIT", "1s"),
            "CREEK_STALL_LIMIT='1s': give a whole number from 0 to 86400000");
  EXPECT_EQ(refusal("CREEK_STACK_SIZE", "16383"),
            "CREEK_STACK_SIZE='16383': give a whole number from 16384 to 4294967296");
}

TEST_F(environment, with_unknown_names_is_refused_with_the_valid_ones) {
  EXPECT_THAT(refusal("CREEK_SCHEDULER", "fifo"),
              ::testing::HasSubstr("'fifo'; valid: random, last-victim, latency, sharing"));
  EXPECT_THAT(refusal("CREEK_DEQUE", "Host"), ::testing::HasSubstr("'Host'; valid: host, mpb"));
  EXPECT_THAT(refusal("CREEK_IDLE", "sleep"),
              ::testing::HasSubstr("'sleep'; valid: poll, backoff, block"));
  for (const char* name : {"CREEK_SCHEDULER", "CREEK_DEQUE", "CREEK_IDLE"}) {
    EXPECT_THAT(refusal(name, "?"), ::testing::HasSubstr(name)) << "the variable is named";
  }
}

TEST_F(environment, chooses_the_backend_and_its_workers) {
  setenv("CREEK_WORKERS", "2", 1);
  {
    runtime rt;
    EXPECT_STREQ(rt.backend_name(), "host");
    EXPECT_EQ(rt.worker_count(), 2U);
  }
  setenv("CREEK_BACKEND", "abacus", 1);
  EXPECT_THROW(runtime{}, usage_error);
}

TEST(trace_of_a_runtime, is_refused_at_once_or_fails_the_shut_down) {
  runtime rt({.workers = 2});
  EXPECT_THROW(rt.trace_to("/no/such/folder/trace"), error);
  rt.trace_to("/dev/full");
  rt.run([] {});
  rt.run([&rt] { EXPECT_THROW(rt.shut_down(), usage_error) << "it cannot wait for itself"; });
  try {
    rt.shut_down();
    ADD_FAILURE() << "the device is full";
  } catch (const error& why) {
    EXPECT_EQ(why.code(), std::errc::no_space_on_device);
    EXPECT_THAT(why.what(), ::testing::HasSubstr("/dev/full"));
  }
  EXPECT_THROW(rt.run([] {}), usage_error);
  EXPECT_THROW(rt.shut_down(), usage_error);
}

TEST(trace_of_a_runtime, that_nobody_asks_for_is_one_line) {
  ::testing::internal::CaptureStderr();
  {
    runtime rt({.workers = 2});
    rt.trace_to("/dev/full");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "creek: cannot write /dev/full: No space left on device\n");
}

TEST(option_names, survive_a_round_trip) {
  for (const auto kind : {scheduler_kind::stealing_random, scheduler_kind::stealing_last_victim,
                          scheduler_kind::stealing_latency, scheduler_kind::sharing}) {
    EXPECT_EQ(parse_scheduler(to_string(kind)), kind);
  }
  for (const auto kind : {deque_kind::host, deque_kind::mpb}) {
    EXPECT_EQ(parse_deque(to_string(kind)), kind);
  }
  for (const auto policy : {idle_policy::poll, idle_policy::backoff, idle_policy::block}) {
    EXPECT_EQ(parse_idle(to_string(policy)), policy);
  }
}

}  // namespace
}  // namespace creek::support
