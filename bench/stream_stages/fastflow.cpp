// SPDX-License-Identifier: Apache-2.0
// A pipeline of FastFlow, a thread for each stage. Its items are pointers: here numbers.
#include "config.hpp"
#include "harness/fastflow_runtime.hpp"

namespace bench::stream_stages {
namespace {

struct item;  // stands for the number in its address, plus 1

struct source : ff::ff_node_t<item> {
  explicit source(std::int64_t items) : n(static_cast<std::uintptr_t>(items)) {}
  item* svc(item*) override {
    for (std::uintptr_t i = 0; i < n; ++i) ff_send_out(reinterpret_cast<item*>(i + 1));
    return EOS;
  }
  std::uintptr_t n;
};
struct stage : ff::ff_node_t<item> {
  item* svc(item* one) override { return one; }
};
struct sink : ff::ff_node_t<item> {
  item* svc(item* one) override {
    sum += reinterpret_cast<std::uintptr_t>(one) - 1;
    return GO_ON;
  }
  std::uint64_t sum = 0;
};

template <int Stages>
sample run(const settings& s) {
  if (!can_run(s, Stages)) return {0, 0, 0};
  return measure(s, Stages, [&](int stages, std::uint64_t& sum) {
    source first(s.n);
    std::vector<stage> between(static_cast<std::size_t>(stages - 2));
    sink last;
    pipeline_of_threads line(s, capacity);
    line.add_stage(&first);
    for (stage& each : between) line.add_stage(&each);
    line.add_stage(&last);
    line.run();
    sum = last.sum;
  });
}

const registration with_two{two, run<2>};
const registration with_four{four, run<4>};

}  // namespace
}  // namespace bench::stream_stages
