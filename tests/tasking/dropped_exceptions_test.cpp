// SPDX-License-Identifier: Apache-2.0
// Exceptions of tasks whose futures are dropped: which are reported on standard error, how often.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <creek/tasking.hpp>

namespace creek::support {
namespace {

int fail(const char* what) {
  throw std::runtime_error(what);
}

std::string line(const std::string& what) {
  return "creek: a task's exception was dropped: " + what + "\n";
}

/// Captures standard error while `body` runs in a runtime of each kind, until that has ended.
class dropped_exceptions : public testing::TestWithParam<std::string> {
 protected:
  static std::string said_after(const std::function<void()>& body) {
    testing::internal::CaptureStderr();
    {
      runtime rt(scheduler_options{.workers = 2}, GetParam());
      rt.run(body);
    }
    return testing::internal::GetCapturedStderr();
  }
};
INSTANTIATE_TEST_SUITE_P(on, dropped_exceptions, testing::ValuesIn(backends()),
                         [](const auto& tested) { return tested.param; });

TEST_P(dropped_exceptions, are_reported_once) {
  EXPECT_EQ(said_after([] { (void)async(fail, "at once"); }), line("at once"));
  EXPECT_EQ(said_after([] {
              const auto kept = async(fail, "when it has ended");
              kept.wait();
            }),
            line("when it has ended"));
  EXPECT_EQ(said_after([] { (void)async([] { throw 1; }); }), line("it is not a std::exception"));
}

TEST_P(dropped_exceptions, are_reported_where_a_future_gets_another_value) {
  EXPECT_EQ(said_after([] {
              auto kept = async(fail, "the first");
              kept = async([] { return 1; });
              kept.get();
            }),
            line("the first"));
}

TEST_P(dropped_exceptions, are_reported_at_the_end_of_a_chain) {
  EXPECT_EQ(said_after([] { (void)async(fail, "chain").then([](int x) { return x; }); }),
            line("chain"));
}

TEST_P(dropped_exceptions, of_calls_of_objects_are_reported) {
  EXPECT_EQ(said_after([] { (void)async_on(core_id{1}, fail, "far away"); }), line("far away"));
  EXPECT_EQ(said_after([] {
              const auto all = make_group<int>();
              (void)all.async_step([](int&) { fail("member"); });
            }),
            line("member"));
}

TEST_P(dropped_exceptions, that_somebody_took_are_not_reported) {
  EXPECT_EQ(said_after([] { EXPECT_THROW(async(fail, "taken").get(), std::runtime_error); }), "");
  EXPECT_EQ(said_after([] {
              auto after = async(fail, "taken").then([](int) {});
              EXPECT_THROW(after.get(), std::runtime_error);
            }),
            "");
}

TEST_P(dropped_exceptions, of_detached_futures_are_not_reported) {
  EXPECT_EQ(said_after([] { async(fail, "detached").detach(); }), "");
  EXPECT_EQ(said_after([] {
              auto kept = async(fail, "detached");
              kept.wait();
              kept.detach();
            }),
            "");
}

TEST_P(dropped_exceptions, beside_one_that_is_on_its_way_are_not_reported) {
  EXPECT_EQ(said_after([] {
              const auto two = [] {
                auto first = async(fail, "first");
                auto second = async(fail, "second");
                first.get();
                second.get();
              };
              EXPECT_THROW(two(), std::runtime_error);
              EXPECT_THROW(when_all(async(fail, "first"), async(fail, "second")).get(),
                           std::runtime_error);
            }),
            "");
}

TEST_P(dropped_exceptions, of_broken_promises_are_not_reported) {
  EXPECT_EQ(said_after([] { (void)promise<int>().get_future(); }), "");
}

}  // namespace
}  // namespace creek::support
