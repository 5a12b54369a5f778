// SPDX-License-Identifier: Apache-2.0
// A pipeline of FastFlow, a thread for each stage.
#include "config.hpp"
#include "harness/fastflow_runtime.hpp"

namespace bench::stream_latency {
namespace {

using instant = std::chrono::steady_clock::time_point;

struct source : ff::ff_node_t<instant> {
  explicit source(std::int64_t items) : written(static_cast<std::size_t>(items)) {}
  instant* svc(instant*) override {
    for (instant& each : written) {
      std::this_thread::sleep_for(pause);
      each = std::chrono::steady_clock::now();
      ff_send_out(&each);
    }
    return EOS;
  }
  std::vector<instant> written;
};
struct stage : ff::ff_node_t<instant> {
  instant* svc(instant* item) override { return item; }
};
struct sink : ff::ff_node_t<instant> {
  explicit sink(arrivals& to) : all(to) {}
  instant* svc(instant* item) override {
    all.add(*item);
    return GO_ON;
  }
  arrivals& all;
};

sample measure(const settings& s) {
  if (!can_run(s, stages)) return {0, 0, 0};
  arrivals all(s.n);
  source first(s.n);
  std::vector<stage> between(stages - 2);
  sink last(all);
  pipeline_of_threads line(s, 1024);
  line.add_stage(&first);
  for (stage& each : between) line.add_stage(&each);
  line.add_stage(&last);
  line.run();
  return std::move(all).result();
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::stream_latency
