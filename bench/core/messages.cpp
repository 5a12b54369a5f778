// SPDX-License-Identifier: Apache-2.0
// Messages between two threads: round trips compared with the bare cache-line round trip, messages
// per second one way, and bytes per second of long messages, in chunks and handed over by address.
#include <cstdint>

#include "two_ranks.hpp"

namespace {

using comm = creek::host_communicator;

void mailbox_round_trip(benchmark::State& state) {
  bench::report(state, [](comm& c) {
    if (c.rank() == 0) {
      c.post(std::uint64_t{1}, 1);
      benchmark::DoNotOptimize(c.take<std::uint64_t>(1));
    } else {
      c.post(c.take<std::uint64_t>(0), 0);
    }
  });
}
void send_round_trip(benchmark::State& state) {
  bench::report(state, [](comm& c) {
    if (c.rank() == 0) {
      c.send(std::uint64_t{1}, 1);
      benchmark::DoNotOptimize(c.recv<std::uint64_t>(1));
    } else {
      c.send(c.recv<std::uint64_t>(0), 0);
    }
  });
}
void mailbox_one_way(benchmark::State& state) {
  bench::report(state, [](comm& c) {
    if (c.rank() == 0) c.post(std::uint64_t{1}, 1);
    if (c.rank() == 1) benchmark::DoNotOptimize(c.take<std::uint64_t>(0));
  });
}
void allreduce(benchmark::State& state) {
  bench::report(state,
                [](comm& c) { benchmark::DoNotOptimize(c.allreduce(c.rank(), std::plus{})); });
}

// Sends 1 MiB one way; `above` is the size from which messages are handed over.
void long_message(benchmark::State& state, std::size_t above) {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  constexpr int messages = 50;
  for (auto _ : state) {
    double ns = 0;
    creek::spmd(2,
                [&](comm& c) {
                  bench::stay_on(c.rank());
                  std::vector<std::byte> data(bytes, std::byte{7});
                  const double mine = bench::median_ns(messages, 1, [&] {
                    if (c.rank() == 0) c.send(std::span<const std::byte>{data}, 1);
                    if (c.rank() == 1) c.recv(std::span<std::byte>{data}, 0);
                  });
                  if (c.rank() == 0) ns = mine;
                },
                {.messages = {.hand_over_above = above}});
    state.SetIterationTime(ns * 1e-9);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

BENCHMARK(mailbox_round_trip)->UseManualTime()->Iterations(5);
BENCHMARK(send_round_trip)->UseManualTime()->Iterations(5);
BENCHMARK(mailbox_one_way)->UseManualTime()->Iterations(5);
BENCHMARK(allreduce)->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(long_message, chunked, std::size_t(-1))->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(long_message, handed_over, 4096)->UseManualTime()->Iterations(5);

}  // namespace
