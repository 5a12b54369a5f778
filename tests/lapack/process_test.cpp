// SPDX-License-Identifier: Apache-2.0
// The library in a process: its own workers only where they pay off, calls from many threads,
// children of fork(), errors without a handler. Run with CREEK_WORKERS=3.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "lapack/names.hpp"
#include "support/process_facts.hpp"

namespace creek::lapack::testing {
namespace {

using support::under_tsan;

constexpr int small = 60;
constexpr int large = 400;

int threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

/// Returns whether a system of n equations was solved.
bool solves(index_t n, unsigned seed) {
  std::mt19937 random(seed);
  const matrix<double> a = random_regular<double>(n, random);
  const matrix<double> b = random_matrix<double>(n, 1, random);
  matrix<double> f = a, x = b;
  std::vector<blas_int> ipiv(static_cast<std::size_t>(n));
  if (lapack<double>("gesv", n, 1, f.data(), ld(f), ipiv.data(), x.data(), ld(x)) != 0)
    return false;
  return distance(product(a, x), b) < tolerance<double>(n) * static_cast<double>(n);
}

template <class F>
int in_child(F body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

TEST(workers, are_made_by_the_first_call_that_they_help) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
  // Runs in a child in which no routine has been called yet.
  EXPECT_EQ(in_child([] {
              if (!solves(small, 1) || threads() != 1) return 1;
              if (!solves(large, 2) || threads() != 4) return 2;
              if (!solves(large, 3) || threads() != 4) return 3;
              return 0;
            }),
            0);
}

TEST(workers, take_no_signals_of_the_program) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no threads after such a fork";
  EXPECT_EQ(in_child([] {
              if (!solves(large, 1)) return 1;
              sigset_t user;
              sigemptyset(&user);
              sigaddset(&user, SIGUSR1);
              pthread_sigmask(SIG_BLOCK, &user, nullptr);
              kill(getpid(), SIGUSR1);  // would kill this process if any thread received it
              const timespec no_time{};
              return sigtimedwait(&user, nullptr, &no_time) == SIGUSR1 ? 0 : 2;
            }),
            0);
}

TEST(workers, are_not_needed) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
  const auto solves_alone = [](const char* workers) {
    return in_child([=] {
      setenv("CREEK_WORKERS", workers, 1);
      return solves(large, 1) && solves(large, 2) && threads() == 1 ? 0 : 1;
    });
  };
  EXPECT_EQ(solves_alone("1"), 0);
  EXPECT_EQ(solves_alone("many"), 0) << "a bad number is said on standard error, once";
}

TEST(calls, come_from_many_threads_at_once) {
  std::atomic<int> solved{0};
  {
    std::vector<std::jthread> callers;
    for (unsigned t = 0; t < 4; ++t) {
      callers.emplace_back([&, t] {
        for (unsigned round = 0; round < 3; ++round) {
          if (solves(t % 2 == 0 ? large : small, 10 * t + round)) ++solved;
        }
      });
    }
  }
  EXPECT_EQ(solved.load(), 12);
}

TEST(calls, work_in_children_of_a_process_with_workers) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no threads after such a fork";
  ASSERT_TRUE(solves(large, 1));
  EXPECT_EQ(in_child([] {
              if (!solves(large, 2)) return 1;
              return in_child([] { return solves(large, 3) ? 0 : 2; });
            }),
            0);
  EXPECT_TRUE(solves(large, 4)) << "the parent goes on";
}

TEST(calls, work_in_a_child_that_was_forked_during_others) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no threads after such a fork";
  if (support::under_asan) {
    GTEST_SKIP() << "a fork leaves the child the locks that other threads hold in the allocator "
                    "of GCC 12's AddressSanitizer";
  }
  ASSERT_TRUE(solves(small, 0));  // names are found, workers are not yet created
  std::atomic<bool> stop{false}, failed{false};
  std::jthread busy([&] {
    for (unsigned seed = 0; !stop; ++seed) {
      if (!solves(large, seed)) failed = true;
    }
  });
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(in_child([=] { return solves(large, i) ? 0 : 1; }), 0);
  }
  stop = true;
  busy.join();
  EXPECT_FALSE(failed);
}

struct at_the_end {
  ~at_the_end() {
    if (!solves(large, 5)) std::abort();
  }
};

TEST(the_end_of_the_process, is_not_held_up) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, not a fork of this one
  const auto process = [] {
    static const at_the_end late;  // calls once more, after the workers have been created
    std::exit(solves(large, 1) ? 6 : 1);
  };
  EXPECT_EXIT(process(), ::testing::ExitedWithCode(6), "");
}

TEST(errors, are_printed_where_nobody_takes_them) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(lapack<double>("potrf", 'L', -4, static_cast<double*>(nullptr), 1), -2);
  EXPECT_EQ(lapacke<float>("getrf", 7, 1, 1, static_cast<float*>(nullptr), 1,
                           static_cast<blas_int*>(nullptr)),
            -1);
  cblas<float>("gemm", row_major, 111, 111, -1, 0, 0, 1.0F, static_cast<float*>(nullptr), 1,
               static_cast<float*>(nullptr), 1, 1.0F, static_cast<float*>(nullptr), 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            " ** On entry to DPOTRF parameter number  2 had an illegal value\n"
            "Wrong parameter 1 in LAPACKE_sgetrf\n"
            "Parameter 4 to routine cblas_sgemm was incorrect\n");
}

TEST(memory, that_runs_out_is_an_error_of_lapacke_and_the_end_for_fortran) {
  if (support::under_sanitizer) GTEST_SKIP() << "sanitizers need the address space";
  // 2^30 rows: the copy by columns, and the pivots, exceed what any machine can map.
  constexpr blas_int many = 1 << 30;
  std::vector<float> a(1);
  std::vector<blas_int> ipiv(1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(lapacke<float>("getrf_work", row_major, many, many, a.data(), many, ipiv.data()),
            -1011);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "Not enough memory to transpose matrix in LAPACKE_sgetrf_work\n");
  const auto fortran_call = [&] {
    const rlimit none{std::size_t{4} << 30, std::size_t{4} << 30};
    setrlimit(RLIMIT_AS, &none);
    lapack<float>("getrf", many, many, a.data(), many, ipiv.data());
  };
  EXPECT_EXIT(fortran_call(), ::testing::KilledBySignal(SIGABRT),
              "creek: sgetrf: not enough memory");
}

}  // namespace
}  // namespace creek::lapack::testing
