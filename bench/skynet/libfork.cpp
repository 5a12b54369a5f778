// SPDX-License-Identifier: Apache-2.0
// Skynet on libfork: nine children forked, the last called.
#include "config.hpp"
#include "harness/libfork_runtime.hpp"

namespace bench::skynet {
namespace {

constexpr auto node = [](auto self, std::uint64_t first,
                         std::int64_t depth) -> lf::task<std::uint64_t> {
  if (depth == 0) co_return first;
  const std::uint64_t step = leaves(depth - 1);
  results below;
  for (std::size_t i = 0; i + 1 < children; ++i) {
    co_await lf::fork(&below[i], self)(first + i * step, depth - 1);
  }
  co_await lf::call(&below[children - 1], self)(first + (children - 1) * step, depth - 1);
  co_await lf::join;
  co_return sum(below);
};

sample measure(const settings& s) {
  auto& workers = pool(s);
  sample result{.work = tasks(s)};
  result.total_ns =
      timed([&] { result.answer = lf::sync_wait(workers, node, std::uint64_t{0}, s.n); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::skynet
