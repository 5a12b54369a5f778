// SPDX-License-Identifier: Apache-2.0
// Waiting for one of several channels.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <stop_token>
#include <vector>

#include <creek/tasking/select.hpp>

#include "channel_forms.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using creek::channel;

class ChannelSelect : public ChannelConformance {};
CONFORMANCE(ChannelSelect);

TEST_P(ChannelSelect, SelectsTheFirstCaseThatIsReady) {
  in_each_runtime([&] {
    channel<int> a(1), b(1);
    int got = 0;
    const auto keep = [&](creek::receive_result<int> item) { got = item ? *item : -1; };
    EXPECT_FALSE(creek::try_select(creek::on_receive(a, keep), creek::on_receive(b, keep)));
    EXPECT_FALSE(creek::select_for(100us, creek::on_receive(a, keep), creek::on_receive(b, keep)));
    EXPECT_TRUE(b.send(5));
    EXPECT_EQ(creek::select(creek::on_receive(a, keep), creek::on_receive(b, keep)), 1U);
    EXPECT_EQ(got, 5);
    const auto soon = [] { return std::chrono::steady_clock::now() + 100us; };
    if (is_simulated()) {
      EXPECT_THROW((void)creek::select_until(soon(), creek::on_receive(a, keep)),
                   creek::usage_error);
    } else {
      EXPECT_FALSE(creek::select_until(soon(), creek::on_receive(a, keep)));
      EXPECT_TRUE(b.send(4));
      EXPECT_EQ(creek::select_until(std::chrono::steady_clock::time_point{},
                                    creek::on_receive(a, keep), creek::on_receive(b, keep)),
                1U)
          << "ready, though late";
      EXPECT_EQ(got, 4);
    }
    bool was_sent = false;
    EXPECT_EQ(creek::select(creek::on_receive(a, keep), creek::on_send(b, 6, [&] { got = 6; })),
              1U);
    EXPECT_EQ(got, 6);
    EXPECT_FALSE(creek::try_select(creek::on_send(b, 7, [&] { got = 7; })));
    a.close();
    EXPECT_EQ(creek::select(creek::on_receive(a, keep)), 0U);
    EXPECT_EQ(got, -1) << "a closed channel is ready";
    EXPECT_EQ(creek::select(creek::on_send(
                  a, 1, [&](creek::send_result sent) { was_sent = static_cast<bool>(sent); })),
              0U);
    EXPECT_FALSE(was_sent);
    std::stop_source source;
    creek::spawn([&] { source.request_stop(); });
    channel<int> never(1);
    EXPECT_FALSE(creek::select(source.get_token(), creek::on_receive(never, keep)));
    creek::taskwait();
  });
}

/// Several strands select from two channels, others receive from one of them: a notification that a
/// select does not use goes to those.
TEST_P(ChannelSelect, LosesNothingInSelects) {
  in_each_runtime([] {
    for (const std::size_t capacity : {1U, 3U}) {
      channel<int> a(capacity), b(capacity), results(capacity);
      constexpr int count = 60, selecting = 2, receiving = 2;
      std::atomic<int> left{selecting + receiving};
      const auto leave = [&] {
        if (left.fetch_sub(1) == 1) results.close();
      };
      for (int i = 0; i < selecting; ++i) {
        creek::spawn([&] {
          bool a_is_open = true, b_is_open = true;
          while (a_is_open || b_is_open) {
            const auto keep = [&](bool& is_open) {
              return [&](creek::receive_result<int> item) {
                is_open = static_cast<bool>(item);
                if (item) {
                  EXPECT_TRUE(results.send(*item));
                }
              };
            };
            if (!a_is_open) {
              creek::select(creek::on_receive(b, keep(b_is_open)));
            } else if (!b_is_open) {
              creek::select(creek::on_receive(a, keep(a_is_open)));
            } else {
              creek::select(creek::on_receive(a, keep(a_is_open)),
                            creek::on_receive(b, keep(b_is_open)));
            }
          }
          leave();
        });
      }
      for (int i = 0; i < receiving; ++i) {
        creek::spawn([&] {
          for (const int item : a) EXPECT_TRUE(results.send(item));
          leave();
        });
      }
      creek::spawn([&] {
        int to_a = 0, to_b = 0;
        while (to_a < count || to_b < count) {  // sends to the one that has room
          if (to_a == count) {
            EXPECT_TRUE(b.send(count + to_b++));
          } else if (to_b == count) {
            EXPECT_TRUE(a.send(to_a++));
          } else {
            creek::select(creek::on_send(b, count + to_b, [&] { ++to_b; }),
                          creek::on_send(a, to_a, [&] { ++to_a; }));
          }
        }
        a.close();
        b.close();
      });
      std::vector<int> all;
      for (const int item : results) all.push_back(item);
      creek::taskwait();
      std::sort(all.begin(), all.end());
      std::vector<int> expected(2 * count);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected);
    }
  });
}

}  // namespace
