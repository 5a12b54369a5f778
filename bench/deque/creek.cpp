// SPDX-License-Identifier: Apache-2.0
// creek's two deques, owner's end.
#include "config.hpp"
#include "standalone.hpp"

namespace bench::deque {
namespace {

template <class Deque>
sample run_on(const settings& s) {
  Deque tasks(2 * burst);
  return run(
      s, [&](std::uint64_t value) { tasks.push(value); }, [&] { return tasks.pop(); });
}

const registration with_split{what, run_on<split_deque>};
const registration with_lock{mpb, run_on<locked_deque>};

}  // namespace
}  // namespace bench::deque
