// SPDX-License-Identifier: Apache-2.0
// Processes in place of sources, stages and sinks of a pipeline: coroutines, files, pipes, sockets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <future>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <creek/stream.hpp>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::pipeline;
using creek::pipeline_error;
using creek::stream::coroutine;
using creek::stream::in;
using creek::stream::next_item;
using creek::stream::out;
using creek::stream::read_blocks;
using creek::stream::read_lines;
using creek::stream::write_strings;
using testing::ElementsAre;
using testing::HasSubstr;

class StreamSources : public Conformance {};
CONFORMANCE(StreamSources);

coroutine<int()> numbers_to(int end) {
  for (int i = 0; i < end; ++i) co_yield i;
}
/// Passes on each item as often as it says.
coroutine<int(int)> repeated() {
  while (const std::optional<int> item = co_await next_item) {
    for (int i = 0; i < *item; ++i) co_yield *item;
  }
}

TEST_P(StreamSources, MayBeCoroutines) {
  in_each_runtime([] {
    std::vector<int> got;
    pipeline(numbers_to(4), repeated(), [&](int i) { got.push_back(i); });
    EXPECT_THAT(got, ElementsAre(1, 2, 2, 3, 3, 3));
  });
}

TEST_P(StreamSources, AreCoroutinesAsProcesses) {
  in_each_runtime([] {
    creek::stream::network net;
    auto numbers = net.make_channel<int>(1), more = net.make_channel<int>(2);
    long sum = 0;
    net.add("numbers", numbers_to(100), std::move(numbers.writer));
    net.add("repeated", repeated(), std::move(numbers.reader), std::move(more.writer));
    net.add(
        "sum",
        [&](in<int>& from) {
          for (const int each : from) sum += each;
          EXPECT_EQ(from.items(), 4950U);
        },
        std::move(more.reader));
    net.run();
    EXPECT_EQ(sum, 99L * 100 * 199 / 6);
  });
}

TEST_P(StreamSources, WaitForFuturesInCoroutines) {
  in_each_runtime([] {
    const auto squares = [](int end) -> coroutine<int()> {
      for (int i = 0; i < end; ++i) co_yield co_await creek::async([i] { return i * i; });
    };
    std::vector<int> got;
    pipeline(squares(4), [&](int i) { got.push_back(i); });
    EXPECT_THAT(got, ElementsAre(0, 1, 4, 9));
  });
}

TEST_P(StreamSources, RunACoroutineOnce) {
  in_each_runtime([] {
    auto once = numbers_to(3);
    const auto run = [&] { pipeline(once, [](int) {}); };
    run();
    try {
      run();
      ADD_FAILURE() << "no exception";
    } catch (const pipeline_error& failed) {
      EXPECT_THAT(failed.what(), HasSubstr("source, item 0: stream: a coroutine runs once"));
    }
  });
}

TEST_P(StreamSources, SayWhichItemACoroutineFailedAt) {
  in_each_runtime([] {
    const auto failing = []() -> coroutine<int(int)> {
      while (const std::optional<int> item = co_await next_item) {
        if (*item == 5) throw std::runtime_error("no fives");
        co_yield *item;
      }
    };
    try {
      pipeline(numbers_to(100), failing(), [](int) {});
      ADD_FAILURE() << "no exception";
    } catch (const pipeline_error& failed) {
      EXPECT_EQ(failed.stage(), "stage 1");
      EXPECT_EQ(failed.item(), 5U);
    }
  });
}

struct closing_source {
  using item_type = int;
  void operator()(out<int>& to) {
    to.write(1);
    to.write(2);
    to.close();
    EXPECT_EQ(to.items(), 2U);
    throw std::runtime_error("the real reason");
  }
};

TEST_P(StreamSources, SayWhyAProcessFailedThatHadClosedItsPort) {
  in_each_runtime([] {
    try {
      pipeline(closing_source{}, [](int) {});
      ADD_FAILURE() << "no exception";
    } catch (const pipeline_error& failed) {
      EXPECT_THAT(failed.what(), HasSubstr("source, item 2: the real reason"));
    }
  });
}

TEST_P(StreamSources, EndACoroutineWhoseItemsNobodyReads) {
  in_each_runtime([] {
    bool left = false;
    const auto endless = [&]() -> coroutine<int()> {
      struct at_end {
        bool& left;
        ~at_end() { left = true; }
      } const mark{left};
      for (int i = 0;; ++i) co_yield i;
    };
    pipeline({.capacity = 2}, endless(), [](in<int>& from) { EXPECT_EQ(from.read(), 0); });
    EXPECT_TRUE(left);
  });
}

/// Both ends of a pipe or of a pair of sockets.
class both_ends {
 public:
  enum class kind { pipe, sockets };
  explicit both_ends(kind what) {
    const int failed = what == kind::pipe ? pipe2(ends_.data(), O_CLOEXEC)
                                          : socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data());
    if (failed != 0) std::abort();
  }
  both_ends(const both_ends&) = delete;
  both_ends& operator=(const both_ends&) = delete;
  ~both_ends() {
    close_end(0);
    close_end(1);
  }
  int from() const { return ends_[0]; }
  int to() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }
  void send(std::string_view text) const {
    if (write(to(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  }

 private:
  void close_end(std::size_t which) {
    if (ends_[which] >= 0) close(std::exchange(ends_[which], -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

TEST_P(StreamSources, ReadLines) {
  if (is_simulated()) return;
  for (const auto what : {both_ends::kind::pipe, both_ends::kind::sockets}) {
    in_each_runtime([what] {
      both_ends all(what);
      std::vector<std::string> got;
      creek::spawn([&] {
        for (const char* part : {"one\ntw", "o\n\nthr", "ee"}) all.send(part);
        all.close_writer();
      });
      pipeline(read_lines(all.from()), [&](std::string line) { got.push_back(std::move(line)); });
      creek::taskwait();
      EXPECT_THAT(got, ElementsAre("one", "two", "", "three"));
    });
  }
}

TEST_P(StreamSources, ReadAFile) {
  in_each_runtime([] {
    std::string all, expected;
    pipeline(read_blocks("/proc/self/exe", 5000), [&](const std::string& block) {
      EXPECT_LE(block.size(), 5000U);
      all += block;
    });
    std::ifstream file("/proc/self/exe", std::ios::binary);
    expected.assign(std::istreambuf_iterator<char>(file), {});
    EXPECT_TRUE(all == expected);
  });
}

TEST_P(StreamSources, EndWhileTheyWaitIfAStopIsRequested) {
  if (is_simulated()) return;
  in_each_runtime([] {
    const both_ends quiet(both_ends::kind::pipe);
    std::stop_source stop;
    creek::spawn([&] {
      quiet.send("x");
      stop.request_stop();
    });
    EXPECT_THROW(
        pipeline({.stop = stop.get_token()}, read_blocks(quiet.from()), [](const std::string&) {}),
        creek::cancelled);
    creek::taskwait();
  });
}

TEST_P(StreamSources, EndWhileTheyWaitIfASinkFails) {
  if (is_simulated()) return;
  in_each_runtime([] {
    const both_ends quiet(both_ends::kind::sockets);
    quiet.send("first\n");
    try {
      pipeline(read_lines(quiet.from()), [](const std::string&) { throw failure{7}; });
      ADD_FAILURE() << "no exception";
    } catch (const pipeline_error& failed) {
      EXPECT_EQ(failed.stage(), "sink");
    }
  });
}

TEST_P(StreamSources, RefuseLinesThatAreTooLong) {
  in_each_runtime([] {
    both_ends all(both_ends::kind::pipe);
    all.send("short\nmuch too long\n");
    all.close_writer();
    try {
      pipeline(read_lines(all.from(), 10), [](const std::string&) {});
      ADD_FAILURE() << "no exception";
    } catch (const pipeline_error& failed) {
      EXPECT_EQ(failed.item(), 1U);
      EXPECT_THAT(failed.what(), HasSubstr("line 2 is longer than 10 bytes"));
    }
  });
}

TEST_P(StreamSources, SayWhichFileIsMissing) {
  try {
    (void)read_blocks("/no/such/file");
    ADD_FAILURE() << "no exception";
  } catch (const creek::error& failed) {
    EXPECT_THAT(failed.what(), HasSubstr("/no/such/file"));
  }
}

/// More than a pipe holds, read by a thread that begins late.
TEST_P(StreamSources, HaveSinksThatWaitForRoom) {
  if (is_simulated()) return;
  for (const auto what : {both_ends::kind::pipe, both_ends::kind::sockets}) {
    in_each_runtime([what] {
      both_ends all(what);
      constexpr int lines = 40000;
      std::promise<void> is_full;
      std::string got;
      std::jthread reader([&] {
        is_full.get_future().wait();
        std::array<char, 4096> some{};
        for (ssize_t n = 0; (n = read(all.from(), some.data(), some.size())) > 0;)
          got.append(some.data(), static_cast<std::size_t>(n));
      });
      int made = 0;
      const auto source = [&]() -> std::optional<std::string> {
        if (made == lines) return std::nullopt;
        if (made == lines / 2) is_full.set_value();
        return std::to_string(made++);
      };
      pipeline({.capacity = lines}, source, write_strings(all.to(), "\n"));
      all.close_writer();
      reader.join();
      std::string expected;
      for (int i = 0; i < lines; ++i) expected += std::to_string(i) + "\n";
      EXPECT_TRUE(got == expected);
    });
  }
}

TEST_P(StreamSources, HaveSinksThatSayIfTheReaderIsGone) {
  if (is_simulated()) return;
  (void)signal(SIGPIPE, SIG_IGN);
  for (const auto what : {both_ends::kind::pipe, both_ends::kind::sockets}) {
    in_each_runtime([what] {
      both_ends all(what);
      all.close_reader();
      try {
        pipeline(std::vector<std::string>{"lost"}, write_strings(all.to()));
        ADD_FAILURE() << "no exception";
      } catch (const pipeline_error& failed) {
        EXPECT_THAT(failed.what(), HasSubstr("cannot write to descriptor"));
      }
    });
  }
}

}  // namespace
