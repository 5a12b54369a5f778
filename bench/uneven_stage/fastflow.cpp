// SPDX-License-Identifier: Apache-2.0
// An ordered farm of FastFlow, with as many threads of work as there are processors.
#include <ff/farm.hpp>

#include "config.hpp"
#include "harness/fastflow_runtime.hpp"

namespace bench::uneven_stage {
namespace {

struct source : ff::ff_node_t<std::uint64_t> {
  explicit source(std::vector<std::uint64_t>& all) : items(all) {}
  std::uint64_t* svc(std::uint64_t*) override {
    for (std::uint64_t& each : items) ff_send_out(&each);
    return EOS;
  }
  std::vector<std::uint64_t>& items;
};
struct worker : ff::ff_node_t<std::uint64_t> {
  explicit worker(const settings& chosen) : s(chosen) {}
  std::uint64_t* svc(std::uint64_t* item) override {
    *item = work_on(s, *item);
    return item;
  }
  const settings& s;
};
struct sink : ff::ff_node_t<std::uint64_t> {
  std::uint64_t* svc(std::uint64_t* item) override {
    digest = with(digest, *item);
    return GO_ON;
  }
  std::uint64_t digest = 0;
};

sample measure(const settings& s) {
  if (!can_run(s, 2)) return {0, 0, 0};
  std::vector<std::uint64_t> items(static_cast<std::size_t>(s.n));
  std::uint64_t digest = 0;
  const double ns = timed([&] {
    std::iota(items.begin(), items.end(), std::uint64_t{0});
    source first(items);
    sink last;
    std::vector<std::unique_ptr<ff::ff_node>> workers;
    for (unsigned i = 0; i < s.workers; ++i) workers.push_back(std::make_unique<worker>(s));
    ff::ff_Farm<std::uint64_t> farm(std::move(workers), first, last);
    farm.set_ordered();
    run_by_threads(s, farm);
    digest = last.digest;
  });
  return {ns, static_cast<double>(s.n), digest};
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uneven_stage
