// SPDX-License-Identifier: Apache-2.0
// A network of processes.
#include <creek/stream.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::stream_latency {
namespace {

using creek::stream::in;
using creek::stream::out;
using instant = std::chrono::steady_clock::time_point;

void run_network(const settings& s, arrivals& all) {
  creek::stream::network net;
  auto [first, last] = net.make_channel<instant>();
  net.add(
      "source",
      [n = s.n](out<instant>& to) {
        for (std::int64_t i = 0; i < n; ++i) {
          to.wait_elsewhere([] { creek::sleep_for(pause); });
          to.write(std::chrono::steady_clock::now());
        }
      },
      std::move(first));
  for (int i = 2; i < stages; ++i) {
    auto next = net.make_channel<instant>();
    net.add(
        "stage",
        [](in<instant>& from, out<instant>& to) {
          for (const instant each : from) to.write(each);
        },
        std::move(last), std::move(next.writer));
    last = std::move(next.reader);
  }
  net.add(
      "sink",
      [&all](in<instant>& from) {
        for (const instant each : from) all.add(each);
      },
      std::move(last));
  net.run();
}

sample measure(const settings& s) {
  arrivals all(s.n);
  inside(s, [&] { run_network(s, all); });
  return std::move(all).result();
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::stream_latency
