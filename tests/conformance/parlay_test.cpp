// SPDX-License-Identifier: Apache-2.0
// creek as ParlayLib's scheduler, in a runtime of the caller's.
#include <atomic>
#include <cstddef>

#include <creek/tasking/parlay.hpp>

#include "setups.hpp"

namespace {

using namespace conformance;

class Parlay : public Conformance {};
CONFORMANCE(Parlay);

TEST_P(Parlay, ForksAndLoopsOnTheCallersWorkers) {
  in_each_runtime([] {
    ASSERT_EQ(parlay::num_workers(), creek::worker_count());
    std::atomic<std::size_t> sum{0}, strangers{0};
    const auto add = [&](std::size_t i) {
      sum += i;
      if (parlay::worker_id() >= parlay::num_workers()) ++strangers;
    };
    parlay::par_do(
        [&] {
          for (const long granularity : {0, 1, 3, 1000})
            parlay::parallel_for(0, 50, add, granularity);
        },
        [&] {
          parlay::parallel_for(0, 5, [&](std::size_t i) {
            parlay::par_do([&] { add(i); }, [&] { parlay::parallel_for(0, i, add, 1); });
          });
        });
    EXPECT_EQ(sum, 4U * 1225U + 20U);
    EXPECT_EQ(strangers, 0U);
  });
}

TEST_P(Parlay, RethrowsTheExceptionOfALoop) {
  in_each_runtime([] {
    EXPECT_EQ(failure_of([] {
                parlay::parallel_for(0, 20, [](std::size_t i) {
                  if (i == 7) throw failure{7};
                });
              }),
              7);
  });
}

}  // namespace
