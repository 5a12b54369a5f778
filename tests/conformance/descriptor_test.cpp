// SPDX-License-Identifier: Apache-2.0
// Waits for file descriptors: that they end when there is news, or by a stop, and that a worker
// runs other tasks meanwhile.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Descriptors : public Conformance {};
CONFORMANCE(Descriptors);

/// A pair of connected descriptors that do not block.
class connection {
 public:
  connection() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()) != 0) std::abort();
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  int here() const { return ends_[0]; }
  int there() const { return ends_[1]; }
  void close_there() { close(std::exchange(ends_[1], -1)); }
  /// Writes until there is no more room.
  void fill() const {
    const std::array<char, 4096> some{};
    while (write(here(), some.data(), some.size()) > 0) {
    }
  }
  void drain() const {
    std::array<char, 4096> some{};
    while (read(there(), some.data(), some.size()) > 0) {
    }
  }
  bool takes_byte() const {
    char taken = 0;
    return read(here(), &taken, 1) == 1;
  }
  void send_byte() const {
    if (write(there(), "x", 1) != 1) std::abort();
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_P(Descriptors, ReturnAtOnceIfReady) {
  in_each_runtime([] {
    const connection each;
    creek::wait_writable(each.here());
    each.send_byte();
    creek::wait_readable(each.here());
    EXPECT_TRUE(each.takes_byte());
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    creek::wait_readable(file);
    close(file);
  });
}

TEST_P(Descriptors, LeaveTheWorkerToOtherTasks) {
  if (is_simulated()) return;
  in_each_runtime([] {
    constexpr int pairs = 50;
    std::vector<connection> all(pairs);
    std::atomic<int> taken{0};
    for (auto& each : all) {
      creek::spawn([&] {
        creek::wait_readable(each.here());
        taken += each.takes_byte() ? 1 : 0;
      });
    }
    for (auto& each : all) creek::spawn([&] { each.send_byte(); });
    creek::taskwait();
    EXPECT_EQ(taken.load(), pairs);
  });
}

TEST_P(Descriptors, AreWatchedForReadersAndWritersAtOnce) {
  if (is_simulated()) return;
  in_each_runtime([] {
    const connection one;
    one.fill();
    std::atomic<int> ended{0};
    creek::spawn([&] {
      creek::wait_readable(one.here());
      ++ended;
    });
    creek::spawn([&] {
      creek::wait_readable(one.here());
      ++ended;
    });
    creek::spawn([&] {
      creek::wait_writable(one.here());
      ++ended;
    });
    creek::spawn([&] { one.send_byte(); });
    creek::spawn([&] { one.drain(); });
    creek::taskwait();
    EXPECT_EQ(ended.load(), 3);
  });
}

TEST_P(Descriptors, AreReadyWhenTheOtherEndCloses) {
  if (is_simulated()) return;
  in_each_runtime([] {
    connection read_from, written_to;
    written_to.fill();
    creek::spawn([&] {
      creek::wait_readable(read_from.here());
      EXPECT_FALSE(read_from.takes_byte());
    });
    creek::spawn([&] {
      creek::wait_writable(written_to.here());
      EXPECT_EQ(send(written_to.here(), "x", 1, MSG_NOSIGNAL), -1);
    });
    creek::spawn([&] {
      read_from.close_there();
      written_to.close_there();
    });
    creek::taskwait();
  });
}

TEST_P(Descriptors, AreNotWaitedForAfterAStop) {
  if (is_simulated()) return;
  in_each_runtime([] {
    const connection one;
    std::stop_source stop;
    std::atomic<int> stopped{0};
    for (int i = 0; i < 3; ++i) {
      creek::spawn([&] { stopped += creek::wait_readable(one.here(), stop.get_token()) ? 0 : 1; });
    }
    creek::spawn([&] { stop.request_stop(); });
    creek::taskwait();
    EXPECT_EQ(stopped.load(), 3);
    EXPECT_FALSE(creek::wait_readable(one.here(), stop.get_token()));
    // Nothing is left of those waits.
    creek::spawn([&] { one.send_byte(); });
    creek::wait_readable(one.here());
    creek::taskwait();
    EXPECT_TRUE(one.takes_byte());
  });
}

TEST_P(Descriptors, MayBecomeReadyWhileAStopIsRequested) {
  if (is_simulated()) return;
  in_each_runtime([] {
    for (int round = 0; round < 200; ++round) {
      const connection one;
      std::stop_source stop;
      creek::spawn([&] { one.send_byte(); });
      creek::spawn([&] { stop.request_stop(); });
      const bool came = creek::wait_readable(one.here(), stop.get_token());
      creek::taskwait();
      EXPECT_TRUE(came || stop.stop_requested());
      EXPECT_TRUE(one.takes_byte());
    }
  });
}

TEST_P(Descriptors, OfNoFileAreRefused) {
  in_each_runtime([] {
    try {
      creek::wait_readable(-1);
      ADD_FAILURE() << "no exception";
    } catch (const creek::error& refused) {
      EXPECT_EQ(refused.code().value(), EBADF);
      EXPECT_NE(std::string(refused.what()).find("wait_readable: descriptor -1"), std::string::npos)
          << refused.what();
    }
  });
}

TEST_P(Descriptors, AreWaitedForOutsideOfARuntime) {
  const connection one;
  std::jthread other([&] { one.send_byte(); });
  creek::wait_readable(one.here());
  EXPECT_TRUE(one.takes_byte());
  std::stop_source stop;
  std::jthread stopping([&] { stop.request_stop(); });
  EXPECT_FALSE(creek::wait_readable(one.here(), stop.get_token()));
}

}  // namespace
