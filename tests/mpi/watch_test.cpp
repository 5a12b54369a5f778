// SPDX-License-Identifier: Apache-2.0
// The watch between ranks, without MPI: the ranks are children of the test, which reads what they
// and their watchers write until the last of them has ended.
#include "watch/watch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <creek/core/error.hpp>

namespace creek::mpi_backend {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

struct pipe_ends {
  pipe_ends() {
    std::array<int, 2> both{};
    if (pipe(both.data()) != 0) throw error(errno, "pipe");
    in = descriptor(both[0]);
    out = descriptor(both[1]);
  }
  descriptor in, out;
};

void read_all(int from, void* data, std::size_t bytes) {
  for (auto* at = static_cast<char*>(data); bytes != 0;) {
    const ssize_t got = read(from, at, bytes);
    if (got <= 0) _exit(99);
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

/// Returns the process of the watcher of a rank whose standard error is the pipe `said`.
pid_t watcher_of(int rank, int said) {
  std::error_code fault;
  const auto pipe = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(said), fault);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (name != "creek-watch " + std::to_string(rank)) continue;
    if (std::filesystem::read_symlink(entry.path() / "fd" / "2", fault) == pipe) {
      return static_cast<pid_t>(std::stol(entry.path().filename().string()));
    }
  }
  return -1;
}

/// Ranks that have joined; each then runs `body(rank, watch)` and ends with what it returns.
class run_of_ranks {
 public:
  using body_type = std::function<int(int, watch&)>;

  /// Rank 0 calls `before_inviting` when its watcher waits for the others.
  run_of_ranks(
      int ranks, const body_type& body, watch_setting setting = watch_setting::on,
      const std::function<void()>& before_inviting = [] {}) {
    std::vector<pipe_ends> invitations(static_cast<std::size_t>(ranks));
    pipe_ends ready, go;
    for (int rank = 0; rank < ranks; ++rank) {
      std::fflush(nullptr);
      const pid_t pid = fork();
      if (pid == 0) {
        dup2(said_.out.get(), STDERR_FILENO);
        int code = 98;
        {
          watch watched(setting);
          watched.join(rank, ranks, "host" + std::to_string(rank),
                       [&](void* data, std::size_t bytes) {
                         if (rank != 0) {
                           return read_all(invitations[static_cast<std::size_t>(rank)].in.get(),
                                           data, bytes);
                         }
                         before_inviting();
                         for (const pipe_ends& each : invitations) {
                           if (write(each.out.get(), data, bytes) < 0) _exit(99);
                         }
                       });
          const char one = 1;
          if (write(ready.out.get(), &one, 1) != 1) _exit(99);
          char all_are_ready = 0;
          read_all(go.in.get(), &all_are_ready, 1);
          code = body(rank, watched);
        }
        _exit(code);
      }
      pids_.push_back(pid);
    }
    said_.out.reset();
    std::vector<char> all(static_cast<std::size_t>(ranks));
    read_all(ready.in.get(), all.data(), all.size());
    if (write(go.out.get(), all.data(), all.size()) < 0) throw error(errno, "pipe");
  }

  [[nodiscard]] pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] pid_t watcher(int rank) const { return watcher_of(rank, said_.in.get()); }

  /// Returns the lines that were written when no rank and no watcher is left.
  std::vector<std::string> lines() {
    std::string text;
    std::array<char, 4096> some{};
    for (ssize_t got = 1; got > 0;) {
      pollfd one{.fd = said_.in.get(), .events = POLLIN, .revents = 0};
      constexpr int patience = 60'000;
      if (poll(&one, 1, patience) != 1) {
        ADD_FAILURE() << "a rank or a watcher goes on";
        break;
      }
      got = read(said_.in.get(), some.data(), some.size());
      if (got > 0) text.append(some.data(), static_cast<std::size_t>(got));
    }
    for (const pid_t each : pids_) {
      int status = 0;
      waitpid(each, &status, 0);
      statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    }
    std::vector<std::string> found;
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      found.push_back(text.substr(at, end - at));
    }
    return found;
  }

  std::vector<int> statuses;  ///< exit codes, or signals as negative numbers; after lines()

 private:
  pipe_ends said_;
  std::vector<pid_t> pids_;
};

int wait_for_ever(int, watch&) {
  for (;;) pause();
}

TEST(MpiWatch, NamesTheRankThatIsKilled) {
  for (int victim = 0; victim < 3; ++victim) {
    run_of_ranks run(3, wait_for_ever);
    kill(run.pid(victim), SIGKILL);
    const std::string number = std::to_string(victim);
    EXPECT_THAT(run.lines(), ElementsAre("creek: rank " + number + " on host" + number +
                                         " ended without a word: the run ends"));
    std::vector<int> expected(3, 1);
    expected[static_cast<std::size_t>(victim)] = -SIGKILL;
    EXPECT_EQ(run.statuses, expected);
  }
}

TEST(MpiWatch, NamesOneOfSeveralThatAreKilledAtOnce) {
  const char* const given = std::getenv("CREEK_TEST_SEED");
  const auto seed = given == nullptr ? std::random_device{}()
                                     : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  std::printf("CREEK_TEST_SEED=%u\n", seed);
  std::mt19937 numbers(seed);
  for (int i = 0; i < 10; ++i) {
    run_of_ranks run(5, wait_for_ever);
    const int first = static_cast<int>(numbers() % 5), second = static_cast<int>(numbers() % 5);
    kill(run.pid(first), SIGKILL);
    kill(run.pid(second), SIGKILL);
    EXPECT_THAT(run.lines(),
                ElementsAre(MatchesRegex("creek: rank . on host. ended without a word: .*")));
  }
}

TEST(MpiWatch, SaysWhatTheRankWasDoing) {
  run_of_ranks run(3, [](int rank, watch& watched) {
    own_activity->set_stage("a stage whose name is longer than there is room for");
    own_activity->begin(operation::receive, 1, true);
    if (rank == 2) raise(SIGKILL);
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(),
              ElementsAre("creek: rank 2 on host2 ended without a word (last seen a stage whose "
                          "name is longer th, receiving from rank 1 of a part): the run ends"));
}

TEST(MpiWatch, NamesARankThatCallsExit) {
  run_of_ranks run(2, [](int rank, watch& watched) {
    if (rank == 1) std::exit(0);
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 1 on host1 called exit() or returned from "
                                       "main(): the run ends"));
  EXPECT_EQ(run.statuses, (std::vector<int>{1, 0}));
}

TEST(MpiWatch, NamesTheSignalThatEndsARank) {
  for (const int sent : {SIGTERM, SIGINT}) {
    run_of_ranks run(2, wait_for_ever);
    kill(run.pid(1), sent);
    EXPECT_THAT(run.lines(),
                ElementsAre(std::string("creek: rank 1 on host1 was ended by ") +
                            (sent == SIGTERM ? "SIGTERM" : "SIGINT") + ": the run ends"));
    EXPECT_EQ(run.statuses, (std::vector<int>{1, -sent}));
  }
}

TEST(MpiWatch, NamesARankThatAborts) {
  run_of_ranks run(2, [](int rank, watch& watched) {
    if (rank == 1) std::abort();
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 1 on host1 called abort(): the run ends"));
  EXPECT_EQ(run.statuses, (std::vector<int>{1, -SIGABRT}));
}

// Libraries below MPI abort when they notice that another rank is gone, which may be before its
// connections are closed.
TEST(MpiWatch, NamesTheCauseOfAnAbort) {
  for (const int victim : {0, 2}) {
    run_of_ranks run(3, wait_for_ever);
    const pid_t server = run.watcher(0);
    kill(server, SIGSTOP);  // it learns of both ends at once, that of rank 1 first
    const auto end = [&](int rank, int signal) {
      kill(run.pid(rank), signal);
      siginfo_t ended{};
      waitid(P_PID, static_cast<id_t>(run.pid(rank)), &ended, WEXITED | WNOWAIT);
    };
    end(1, SIGABRT);
    end(victim, SIGKILL);
    kill(server, SIGCONT);
    const std::string number = std::to_string(victim);
    EXPECT_THAT(run.lines(), ElementsAre("creek: rank " + number + " on host" + number +
                                         " ended without a word: the run ends"));
  }
}

TEST(MpiWatch, IgnoresTheSignalsOfAForkedChild) {
  run_of_ranks run(2, [](int rank, watch& watched) {
    if (rank == 1) {
      const pid_t child = fork();
      if (child == 0) std::abort();
      waitpid(child, nullptr, 0);
      raise(SIGKILL);
    }
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(),
              ElementsAre("creek: rank 1 on host1 ended without a word: the run ends"));
}

TEST(MpiWatch, IsSilentAboutRanksThatLeave) {
  run_of_ranks run(4, [](int, watch& watched) {
    watched.leave();
    return 5;
  });
  EXPECT_THAT(run.lines(), IsEmpty());
  EXPECT_EQ(run.statuses, (std::vector<int>{5, 5, 5, 5}));
}

TEST(MpiWatch, LetsOneRankReportItsError) {
  run_of_ranks run(4, [](int rank, watch& watched) -> int {
    const bool is_first = watched.report(fmt::format("rank {} failed\n", rank), rank == 3);
    _exit(is_first ? 2 : 1);  // as MPI_Abort does
  });
  EXPECT_THAT(run.lines(), ElementsAre(MatchesRegex("rank . failed")));
}

TEST(MpiWatch, KeepsTheLineOfARankThatIsKilledBeforeItEndsTheRun) {
  for (int victim = 0; victim < 2; ++victim) {
    run_of_ranks run(2, [&](int rank, watch& watched) {
      if (rank == victim && watched.report("an error\n", false)) raise(SIGKILL);
      return wait_for_ever(rank, watched);
    });
    EXPECT_THAT(run.lines(), ElementsAre("an error"));
    std::vector<int> expected(2, 1);
    expected[static_cast<std::size_t>(victim)] = -SIGKILL;
    EXPECT_EQ(run.statuses, expected);
  }
}

TEST(MpiWatch, CutsALongLine) {
  run_of_ranks run(2, [](int rank, watch& watched) {
    if (rank == 1 && watched.report(std::string(5000, 'x') + '\n', false)) _exit(2);
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(), ElementsAre(std::string(4094, 'x')));
}

TEST(MpiWatch, PrefersAnErrorOfARanksOwnToOneOfMpi) {
  pipe_ends asks;
  run_of_ranks run(3, [&](int rank, watch& watched) {
    char one = 1;
    if (rank == 1 && write(asks.out.get(), &one, 1) != 1) _exit(99);
    if (rank == 2) read_all(asks.in.get(), &one, 1);
    if (rank != 0 && watched.report(fmt::format("rank {} failed\n", rank), rank == 1)) _exit(2);
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(), ElementsAre("rank 2 failed"));
}

TEST(MpiWatch, NamesARankThatIsKilledWhenOthersLeave) {
  for (int leaver = 0; leaver < 3; leaver += 2) {
    pipe_ends leaves;
    run_of_ranks run(3, [&](int rank, watch& watched) {
      char one = 1;
      if (rank == leaver) {
        if (write(leaves.out.get(), &one, 1) != 1) _exit(99);
        watched.leave();
        return 5;
      }
      if (rank == 1) {
        read_all(leaves.in.get(), &one, 1);
        raise(SIGKILL);
      }
      return wait_for_ever(rank, watched);
    });
    EXPECT_THAT(run.lines(), ElementsAre("creek: rank 1 on host1 ended without a word: the run "
                                         "ends"));
    // Rank 2 has left before the run ends, or has not.
    EXPECT_THAT(run.statuses, ElementsAre(1, -SIGKILL, AnyOf(1, leaver == 2 ? 5 : 1)));
  }
}

TEST(MpiWatch, LeavesARankAloneThatHasLeftBeforeAnotherIsKilled) {
  pipe_ends has_left;
  run_of_ranks run(3, [&](int rank, watch& watched) {
    char one = 1;
    if (rank == 2) {
      watched.leave();
      if (write(has_left.out.get(), &one, 1) != 1) _exit(99);
      return 5;
    }
    if (rank == 1) {
      read_all(has_left.in.get(), &one, 1);
      raise(SIGKILL);
    }
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 1 on host1 ended without a word: the run "
                                       "ends"));
  EXPECT_THAT(run.statuses, ElementsAre(1, -SIGKILL, 5));
}

TEST(MpiWatch, NamesTheDeadRankAndNotTheErrorThatItCaused) {
  pipe_ends victim;
  run_of_ranks run(3, [&](int rank, watch& watched) {
    if (rank == 1) {
      const pid_t pid = getpid();
      if (write(victim.out.get(), &pid, sizeof pid) != sizeof pid) _exit(99);
      raise(SIGKILL);
    }
    if (rank == 2) {
      pid_t pid = 0;
      read_all(victim.in.get(), &pid, sizeof pid);
      const descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
      pollfd end{.fd = process.get(), .events = POLLIN, .revents = 0};
      if (process && poll(&end, 1, -1) != 1) _exit(99);
      static_cast<void>(watched.report("connection lost\n", true));
    }
    return wait_for_ever(rank, watched);
  });
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 1 on host1 ended without a word: the run "
                                       "ends"));
}

/// Kills the watcher of a rank, then the rank.
void kill_with_watcher(run_of_ranks& run, int rank) {
  const pid_t watcher = run.watcher(rank);
  ASSERT_GT(watcher, 0);
  kill(watcher, SIGKILL);
  kill(run.pid(rank), SIGKILL);
}

TEST(MpiWatch, EndsIfTheWatcherOfRank0IsKilled) {
  run_of_ranks run(4, wait_for_ever);
  ASSERT_NO_FATAL_FAILURE(kill_with_watcher(run, 0));
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 0 on host0 is no longer watched: the run "
                                       "ends"));
  EXPECT_EQ(run.statuses, (std::vector<int>{-SIGKILL, 1, 1, 1}));
}

TEST(MpiWatch, WritesNoSecondLineIfTheWatcherOfRank0IsKilledAfterAnError) {
  pipe_ends reported;
  run_of_ranks run(3, [&](int rank, watch& watched) {
    const char one = 1;
    if (rank == 2 && watched.report("an error\n", false)) {
      if (write(reported.out.get(), &one, 1) != 1) _exit(99);
    }
    return wait_for_ever(rank, watched);
  });
  char one = 0;
  read_all(reported.in.get(), &one, 1);
  ASSERT_NO_FATAL_FAILURE(kill_with_watcher(run, 0));
  EXPECT_THAT(run.lines(), ElementsAre("an error"));
  EXPECT_EQ(run.statuses, (std::vector<int>{-SIGKILL, 1, 1}));
}

TEST(MpiWatch, EndsIfTheDeputysRankAndTheWatcherOfRank0AreKilled) {
  run_of_ranks run(3, wait_for_ever);
  kill(run.watcher(0), SIGSTOP);
  kill(run.pid(1), SIGKILL);
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(run.pid(1)), &end, WEXITED | WNOWAIT), 0);
  ASSERT_NO_FATAL_FAILURE(kill_with_watcher(run, 0));
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 0 on host0 is no longer watched: the run "
                                       "ends"));
}

TEST(MpiWatch, EndsIfTheWatcherOfAnotherRankIsKilledToo) {
  run_of_ranks run(3, wait_for_ever);
  ASSERT_NO_FATAL_FAILURE(kill_with_watcher(run, 2));
  EXPECT_THAT(run.lines(), ElementsAre("creek: rank 2 on host2 ended without a word: the run "
                                       "ends"));
}

TEST(MpiWatch, IsSilentAboutARankThatCannotJoin) {
  const auto stop = [] { kill(watcher_of(0, STDERR_FILENO), SIGSTOP); };
  const auto go_on = [](int rank, watch& watched) {
    if (rank != 0) return 5;
    kill(watcher_of(0, STDERR_FILENO), SIGCONT);  // and finds what the other's has left
    return watched.report("an error\n", true) ? 5 : 6;
  };
  run_of_ranks run(2, go_on, watch_setting::on, stop);
  EXPECT_THAT(run.lines(), ElementsAre("an error"));
  EXPECT_EQ(run.statuses, (std::vector<int>{5, 5}));
}

TEST(MpiWatch, LeavesHandlersOfTheProgramAlone) {
  run_of_ranks run(2, [](int, watch& watched) {
    struct sigaction own {};
    own.sa_handler = [](int) {};
    struct sigaction now {};
    sigaction(SIGINT, nullptr, &now);
    const bool was_replaced = now.sa_handler != SIG_DFL;
    sigaction(SIGTERM, &own, nullptr);
    watched.leave();
    sigaction(SIGINT, nullptr, &now);
    const bool is_back = now.sa_handler == SIG_DFL;
    sigaction(SIGTERM, nullptr, &now);
    return was_replaced && is_back && now.sa_handler == own.sa_handler ? 0 : 1;
  });
  EXPECT_THAT(run.lines(), IsEmpty());
  EXPECT_EQ(run.statuses, (std::vector<int>{0, 0}));
}

TEST(MpiWatch, CanBeSwitchedOff) {
  run_of_ranks run(
      2, [](int rank, watch&) { return rank; }, watch_setting::off);
  EXPECT_THAT(run.lines(), IsEmpty());
  EXPECT_EQ(run.statuses, (std::vector<int>{0, 1}));
  setenv("CREEK_MPI_WATCH", "0", 1);
  EXPECT_EQ(watch_from_environment(), watch_setting::off);
  setenv("CREEK_MPI_WATCH", "on", 1);
  EXPECT_THROW((void)watch_from_environment(), usage_error);
  unsetenv("CREEK_MPI_WATCH");
  EXPECT_EQ(watch_from_environment(), watch_setting::on);
}

}  // namespace
}  // namespace creek::mpi_backend
