// SPDX-License-Identifier: Apache-2.0
// Runs that fail: one core throws while others wait, poll, store or unwind. All runs end, and
// run_cores() throws the first exception.
#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;

mpm_ptr<word> flag_of(const memory& m, int core, std::size_t at = 0) {
  return m.at(core_id{core}, at).as<word>();
}

/// Runs `core` on a chip on which core 1 throws after 10 000 cycles; the others unwind.
void run_beside_a_failure(const std::function<void(memory&)>& core) {
  EXPECT_THROW(run_cores({},
                         [&](memory& m) {
                           if (m.self() == core_id{1}) {
                             m.charge(cycles{10'000});
                             m.store(flag_of(m, 47, 64), 1);  // in the order of time
                             throw std::runtime_error("core 1 fails");
                           }
                           core(m);
                         }),
               std::runtime_error);
}

TEST(failed_runs, go_on_past_stores_to_what_others_waited_for) {
  bool stored = false;
  run_beside_a_failure([&](memory& m) {
    if (m.self() == core_id{0}) {
      m.wait_until(flag_of(m, 0), [](word seen) { return seen != 0; });
    }
    if (m.self() == core_id{2}) {
      m.charge(cycles{20'000});
      m.store(flag_of(m, 0), 1);  // core 0 is unwinding
      m.store(flag_of(m, 0), 2);
      stored = true;
    }
  });
  EXPECT_TRUE(stored);
}

/// Stores and waits in its destructor, as the owner of a lock or a message does.
struct waits_at_the_end {
  memory& m;
  ~waits_at_the_end() {
    EXPECT_GT(std::uncaught_exceptions(), 0);
    EXPECT_EQ(m.load(flag_of(m, 0)), 0U) << "what unwinds may look";
    try {
      m.wait_until(flag_of(m, 0), [](word seen) { return seen != 0; });
    } catch (const error& failure) {
      EXPECT_EQ(failure.code().value(), ECANCELED);
    }
  }
};

TEST(failed_runs, refuse_another_wait_for_the_same_line) {
  run_beside_a_failure([&](memory& m) {
    if (m.self() == core_id{0}) {
      const waits_at_the_end guard{m};
      m.wait_until(flag_of(m, 0), [](word seen) { return seen != 0; });
    }
    if (m.self() == core_id{2}) {
      m.charge(cycles{20'000});
      m.store(flag_of(m, 0), 1);
    }
  });
}

TEST(failed_runs, end_loops_over_loads) {
  bool released = false;
  run_beside_a_failure([&](memory& m) {
    if (m.self() != core_id{0}) return;
    try {
      while (m.load(flag_of(m, 0)) == 0) m.charge(cycles{50});
    } catch (const error& failure) {
      EXPECT_EQ(failure.code().value(), ECANCELED);
      released = true;
      throw;
    }
  });
  EXPECT_TRUE(released);
}

/// Returns the code of the error that a run of core 0 alone throws; 0 for misuse.
template <class F>
int code_of_failure(F f) {
  try {
    run_cores({}, [&](memory& m) {
      if (m.self() == core_id{0}) f(m);
    });
  } catch (const usage_error&) {
    return 0;
  } catch (const error& failure) {
    return failure.code().value();
  }
  return -1;
}

constexpr cycles endless{9'000'000'000'000'000};
constexpr cycles an_hour{1'920'000'000'000};

TEST(end_of_time, is_an_error) {
  EXPECT_EQ(code_of_failure([](memory& m) { m.charge(endless); }), EOVERFLOW);
  EXPECT_EQ(code_of_failure([](memory& m) { m.pause(endless); }), EOVERFLOW);
  EXPECT_EQ(code_of_failure([](memory& m) {
              for (;;) m.charge(an_hour);
            }),
            EOVERFLOW);
  EXPECT_EQ(code_of_failure([](memory& m) { m.private_read(cold, 1); }), EOVERFLOW);
  EXPECT_EQ(code_of_failure([](memory&) { creek::charge(endless); }), EOVERFLOW);
  EXPECT_EQ(code_of_failure([](memory& m) {
              m.charge(an_hour);
              m.charge(an_hour);
              EXPECT_GT(m.now(), (virtual_time{7'000'000'000'000'000'000}));
            }),
            -1)
      << "two hours are no error";
}

TEST(end_of_time, is_not_put_off_by_turning_back) {
  EXPECT_EQ(code_of_failure([](memory& m) { m.charge(cycles{-1'000'000}); }), 0);
  EXPECT_EQ(code_of_failure([](memory& m) { m.pause(cycles{-1}); }), 0);
  EXPECT_EQ(code_of_failure([](memory& m) {
              creek::charge(cycles{-1});
              (void)m.load(flag_of(m, 0));
              ADD_FAILURE() << "the next operation goes on";
            }),
            0);
}

}  // namespace
