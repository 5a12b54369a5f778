// SPDX-License-Identifier: Apache-2.0
// fork_join: one branch waits for the other's answer, which only another worker can give meanwhile.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::round_trip {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run(s, [](mailbox& box) {
      return creek::fork_join([&] { return box.wait(); }, [&] { box.answer(); }).first;
    });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::round_trip
