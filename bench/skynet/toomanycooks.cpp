// SPDX-License-Identifier: Apache-2.0
// Skynet on TooManyCooks: ten coroutines that spawn_many starts.
#include "config.hpp"
#include "harness/toomanycooks_runtime.hpp"

namespace bench::skynet {
namespace {

tmc::task<std::uint64_t> node(std::uint64_t first, std::int64_t depth) {
  if (depth == 0) co_return first;
  const std::uint64_t step = leaves(depth - 1);
  std::array<tmc::task<std::uint64_t>, children> below;
  for (std::size_t i = 0; i < children; ++i) below[i] = node(first + i * step, depth - 1);
  co_return sum(co_await tmc::spawn_many<children>(below.data()));
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  result.total_ns = timed([&] { result.answer = run_task(s, node(0, s.n)); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::skynet
