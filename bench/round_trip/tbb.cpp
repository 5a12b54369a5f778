// SPDX-License-Identifier: Apache-2.0
// A task spawned in a task_group while the spawner waits for its answer.
#include <oneapi/tbb/task_group.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::round_trip {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    tbb::task_group group;
    result = run(s, [&](mailbox& box) {
      group.run([&] { box.answer(); });
      const bool answered = box.wait();
      group.wait();
      return answered;
    });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::round_trip
