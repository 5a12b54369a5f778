// SPDX-License-Identifier: Apache-2.0
// The asymmetric fence: the store-load litmus test under every strategy, use after fork() and in a
// sandbox that refuses membarrier.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>

namespace creek {
namespace {

// Both threads meet at the start of each round, so that their stores and loads overlap.
void meet(std::atomic<int>& arrived, int round) {
  arrived.fetch_add(1);
  for (int spins = 0; arrived.load() < 2 * round; ++spins) {
    spins % 64 == 63 ? std::this_thread::yield() : cpu_pause();
  }
}

// Returns the number of rounds in which both sides missed the other's store: must be 0.
template <typename HeavyFence>
int both_missed(int rounds, HeavyFence heavy) {
  std::atomic<int> x{0}, y{0}, start{0}, finish{0};
  int light_saw = 0, heavy_saw = 0, missed = 0;
  std::jthread light_side([&] {
    for (int round = 1; round <= rounds; ++round) {
      meet(start, round);
      x.store(round, std::memory_order_relaxed);
      light_fence();
      light_saw = y.load(std::memory_order_relaxed);
      meet(finish, round);
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    meet(start, round);
    y.store(round, std::memory_order_relaxed);
    heavy();
    heavy_saw = x.load(std::memory_order_relaxed);
    meet(finish, round);
    missed += light_saw != round && heavy_saw != round;
  }
  return missed;
}

TEST(asymmetric_fence, one_side_always_sees_the_other) {
  EXPECT_EQ(both_missed(20'000, [] { heavy_fence(); }), 0);
}

class strategies : public testing::TestWithParam<fence_strategy> {};

TEST_P(strategies, one_side_always_sees_the_other) {
  if (!detail::heavy_fence_by(GetParam())) {
    GTEST_SKIP() << "this system has no " << to_string(GetParam());
  }
  EXPECT_EQ(both_missed(2'000, [] { ASSERT_TRUE(detail::heavy_fence_by(GetParam())); }), 0);
}

INSTANTIATE_TEST_SUITE_P(all, strategies,
                         testing::Values(fence_strategy::membarrier, fence_strategy::tlb_shootdown,
                                         fence_strategy::migrate, fence_strategy::symmetric),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(asymmetric_fence, decides_once) {
  const fence_strategy first = prepare_heavy_fence();
  EXPECT_NE(first, fence_strategy::undecided);
  EXPECT_EQ(prepare_heavy_fence(), first);
  EXPECT_EQ(first == fence_strategy::symmetric, !light_fence_is_free);
}

// Returns the exit status of `child`, run in a forked process.
template <typename Child>
int status_of(Child child) {
  std::fflush(nullptr);  // otherwise the child prints it again
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(asymmetric_fence, works_in_a_forked_child) {
  heavy_fence();
  EXPECT_EQ(status_of([] {
              heavy_fence();
              return 0;
            }),
            0);
}

bool refuse_membarrier() {
  std::array<sock_filter, 4> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(asymmetric_fence, falls_back_where_a_sandbox_refuses_membarrier) {
  if (prepare_heavy_fence() != fence_strategy::membarrier) GTEST_SKIP() << "no membarrier here";
  constexpr int no_seccomp = 77;
  const int status = status_of([] {
    if (!refuse_membarrier()) return no_seccomp;
    heavy_fence();  // must not abort, and must have chosen another strategy
    const fence_strategy now = prepare_heavy_fence();
    return now == fence_strategy::tlb_shootdown || now == fence_strategy::migrate ? 0 : 1;
  });
  if (status == no_seccomp) GTEST_SKIP() << "seccomp filters are not available";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace creek
