// SPDX-License-Identifier: Apache-2.0
// Every protocol of core and tasking under the coherence checker: no fault in any of them, for many
// numbers of ranks and sizes of messages.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <creek/core/messages/broadcast.hpp>
#include <creek/core/protocols/central_barrier.hpp>
#include <creek/core/protocols/flag.hpp>
#include <creek/core/protocols/gather_release_barrier.hpp>
#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/core/protocols/test_and_set_barrier.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/protocols/ticket_lock.hpp>
#include <creek/core/protocols/tournament_barrier.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/tasking/lock_deque.hpp>

#include "checker_cases.hpp"
#include "support/few_cases.hpp"

namespace {

using namespace creek;
using scc_backend::memory;

/// Runs with and without the seed's skew: two schedules.
template <class F>
void expect_clean(int ranks, F f, communicator_options messages = {}) {
  for (const std::uint64_t seed : {0, 7}) {
    scc_backend::machine_options options;
    options.check = true;
    options.seed = seed;
    EXPECT_EQ(text_of(simulate(ranks, f, options, messages).faults), "") << "seed " << seed;
  }
}

class under_check : public ::testing::TestWithParam<int> {};

void pass_a_ring(scc_communicator& c, std::size_t size) {
  std::vector<std::uint8_t> out(size, static_cast<std::uint8_t>(c.rank())), in(size);
  const int next = (c.rank() + 1) % c.size(), before = (c.rank() + c.size() - 1) % c.size();
  c.exchange(std::span<const std::uint8_t>{out}, next, std::span{in}, before);
  EXPECT_EQ(in, std::vector<std::uint8_t>(size, static_cast<std::uint8_t>(before)));
}

TEST_P(under_check, synchronous_messages) {
  expect_clean(GetParam(), [](scc_communicator& c) {
    for (const std::size_t size : {1, 7, 32, 100, 1000, 5000, 33, 3, 9000}) pass_a_ring(c, size);
  });
}

TEST_P(under_check, synchronous_messages_through_a_small_buffer) {
  const auto body = [](scc_communicator& c) {
    for (const std::size_t size : {1, 31, 64, 65, 500}) pass_a_ring(c, size);
  };
  expect_clean(GetParam(), body, {.buffer_bytes = 64});
}

TEST_P(under_check, pipelined_messages) {
  const auto body = [](scc_communicator& c) {
    for (const std::size_t size : {1, 100, 257, 2000}) pass_a_ring(c, size);
  };
  for (const std::size_t buffer : {64, 256}) {
    expect_clean(GetParam(), body, {.buffer_bytes = buffer, .chunks_in_flight = 2});
  }
}

TEST_P(under_check, broadcasts_by_every_route) {
  for (const std::uint32_t chunks : {1U, 2U}) {
    const auto body = [](scc_communicator& c) {
      for (const auto kind : {broadcast_kind::simple, broadcast_kind::chain,
                              broadcast_kind::binary_tree, broadcast_kind::two_tree}) {
        std::vector<std::uint8_t> data(300, static_cast<std::uint8_t>(c.rank()));
        broadcast(c, std::span{data}, c.size() - 1, kind);
        EXPECT_EQ(data[299], c.size() - 1);
      }
    };
    expect_clean(GetParam(), body, {.buffer_bytes = 128, .chunks_in_flight = chunks});
  }
}

TEST_P(under_check, buffered_messages) {
  for (const std::size_t lines : {0, 1, 2, 3}) {
    const auto body = [](scc_communicator& c) {
      for (int round = 0; round < 4; ++round) {
        for (int to = 0; to < c.size(); ++to) {
          if (to != c.rank()) c.post(c.rank() + round, to);
        }
        for (int from = 0; from < c.size(); ++from) {
          if (from == c.rank()) continue;
          EXPECT_EQ(c.take<int>(from), from + round);
        }
      }
      if (c.size() == 1) return;
      // Sends more than a ring holds in one direction.
      std::vector<std::uint8_t> data(200);
      const int next = (c.rank() + 1) % c.size(), before = (c.rank() + c.size() - 1) % c.size();
      if (c.rank() != 0) c.take(std::span{data}, before);
      c.post(std::span<const std::uint8_t>{data}, next);
      if (c.rank() == 0) c.take(std::span{data}, before);
    };
    if (lines * static_cast<std::size_t>(GetParam()) * memory::line_bytes > 4096) continue;
    expect_clean(GetParam(), body, {.buffer_bytes = 256, .mailbox_lines = lines});
  }
}

TEST_P(under_check, mail_that_is_looked_for) {
  expect_clean(GetParam(), [](scc_communicator& c) {
    const int next = (c.rank() + 1) % c.size(), before = (c.rank() + c.size() - 1) % c.size();
    int sent = 0, got = 0;
    while (sent < 20 || got < 20) {
      if (sent < 20 && c.try_post(sent, next)) ++sent;
      if (const auto value = c.try_take<int>(before)) {
        EXPECT_EQ(*value, got++);
      }
      c.memory().pause(cycles{50});
    }
  });
}

TEST_P(under_check, collectives) {
  expect_clean(GetParam(), [](scc_communicator& c) {
    const int ranks = c.size();
    for (const std::size_t size : {std::size_t{1}, std::size_t{5}, std::size_t{700}}) {
      std::vector<int> data(size, c.rank()), all(size * static_cast<std::size_t>(ranks));
      c.bcast(std::span{data}, ranks - 1);
      c.allreduce(std::span{data}, std::plus{});
      c.reduce(std::span{data}, std::plus{}, ranks / 2);
      c.gather(std::span<const int>{data}, std::span{all}, 0);
      c.scatter(std::span<const int>{all}, std::span{data}, 0);
      if (size < 100) c.allgather(std::span<const int>{data}, std::span{all});
      c.inclusive_scan(std::span{data}, std::plus{});
      if (size < 100) {
        std::vector<int> back(all.size());
        c.all_to_all(std::span<const int>{all}, std::span{back});
      }
      c.barrier();
    }
  });
}

TEST_P(under_check, parts_of_a_communicator_and_memory_used_again) {
  const auto body = [](scc_communicator& c, symmetric_allocator& allocator) {
    for (int round = 0; round < 3; ++round) {
      std::vector<core_id> members;
      for (int rank = c.rank() % 2; rank < c.size(); rank += 2) members.push_back(core_id{rank});
      scc_communicator part{c,
                            allocator,
                            team{members, c.memory().self()},
                            {.buffer_bytes = 128, .mailbox_lines = 1}};
      pass_a_ring(part, 300);
      part.barrier();
      c.barrier();  // all have finished with it before its memory is reused
    }
  };
  expect_clean(GetParam(), body, {.buffer_bytes = 128, .mailbox_lines = 1});
}

/// A counter that is a block, under a lock.
template <class MakeLock>
void expect_clean_lock(int ranks, MakeLock make_lock) {
  scc_backend::machine_options options;
  options.check = true;
  const auto report = scc_backend::run_cores(options, [&](memory& m) {
    if (m.self().value >= ranks) return;
    auto lock = make_lock(m);
    const auto counter = m.at(core_id{0}, 1024);
    for (int i = 0; i < 4; ++i) {
      lock.lock();
      int value = 0;
      m.invalidate();
      if (m.load(m.at(core_id{0}, 2048).template as<word>()) != 0) {
        m.read(&value, counter, sizeof value);
      }
      ++value;
      m.write(counter, &value, sizeof value);
      m.flush();
      m.store(m.at(core_id{0}, 2048).template as<word>(), 1);
      lock.unlock();
    }
  });
  EXPECT_EQ(text_of(report.faults), "");
}

TEST_P(under_check, locks) {
  expect_clean_lock(GetParam(), [](memory& m) { return test_and_set_lock(m, core_id{0}); });
  expect_clean_lock(GetParam(),
                    [](memory& m) { return ticket_lock(m, core_id{3}, 64, counter_id{1}); });
  expect_clean_lock(GetParam(), [](memory& m) { return mcs_lock(m, core_id{2}, 128); });
}

/// Makes each core write a block for its neighbour, which reads it after the barrier.
template <class MakeBarrier>
void expect_clean_barrier(int ranks, MakeBarrier make_barrier) {
  const auto body = [&](memory& m) {
    if (m.self().value >= ranks) return;
    std::vector<core_id> members;
    for (int i = 0; i < ranks; ++i) members.push_back(core_id{i});
    auto barrier = make_barrier(m, team{members, m.self()});
    for (int i = 0; i < 5; ++i) {
      const int neighbour = (m.self().value + 1) % ranks;
      std::array<int, 12> values{};
      values.fill(i);
      m.write(m.at(core_id{neighbour}, 1024), values.data(), sizeof values);
      m.flush();
      barrier.wait();
      m.invalidate();
      m.read(values.data(), m.at(m.self(), 1024), sizeof values);
      EXPECT_EQ(values[11], i);
      barrier.wait();
    }
  };
  scc_backend::machine_options options;
  options.check = true;
  EXPECT_EQ(text_of(scc_backend::run_cores(options, body).faults), "");
}

TEST_P(under_check, barriers) {
  expect_clean_barrier(GetParam(),
                       [](memory& m, team t) { return dissemination_barrier<memory>(m, t, 0); });
  expect_clean_barrier(GetParam(),
                       [](memory& m, team t) { return tournament_barrier<memory>(m, t, 0); });
  expect_clean_barrier(GetParam(), [](memory& m, team t) {
    return central_barrier<memory>(m, t, 0, counter_id{5});
  });
}

/// Core 0 creates tasks and takes some back, all others steal.
void work_on(memory& m, std::size_t capacity, int thieves, int& done) {
  lock_deque<memory, checked_task> deque{core_id{0}, m.at(core_id{0}, 64), capacity};
  constexpr int tasks = 100;
  checked_task t{};
  if (m.self() == core_id{0}) {
    deque.reset(m);
    m.store(m.at(core_id{0}, 0).as<word>(), 1);
    for (int i = 0; i < tasks; ++i) {
      while (!deque.push(m, t)) {
        if (thieves == 0 || i % 3 == 0) {
          done += deque.pop_newest(m, t) ? 1 : 0;
        } else {
          m.pause(cycles{100});
        }
      }
    }
    while (deque.pop_newest(m, t)) ++done;
    m.store(m.at(core_id{0}, 0).as<word>(), 2);
    return;
  }
  const auto state = m.at(core_id{0}, 0).as<word>();
  m.wait_until(state, [](word seen) { return seen != 0; });
  while (m.load(state) == 1) {
    if (deque.steal_oldest(m, t) == steal_result::taken) ++done;
    m.pause(cycles{20});
  }
}

TEST_P(under_check, the_deque_of_tasks) {
  for (const std::size_t capacity : {1, 2, 3, 10}) {
    int done = 0;
    scc_backend::machine_options options;
    options.check = true;
    const auto report = scc_backend::run_cores(options, [&](memory& m) {
      if (m.self().value < GetParam()) work_on(m, capacity, GetParam() - 1, done);
    });
    EXPECT_EQ(done, 100);
    EXPECT_EQ(text_of(report.faults), "") << "capacity " << capacity;
  }
}

TEST_P(under_check, flags) {
  const auto report = scc_backend::run_cores({.check = true}, [&](memory& m) {
    const int ranks = GetParam();
    if (m.self().value >= ranks) return;
    flag turn{m, 0};
    if (m.self().value != 0) turn.wait(1);
    int value = 0;
    m.invalidate();
    if (m.self().value != 0) m.read(&value, m.at(core_id{0}, 64), sizeof value);
    EXPECT_EQ(value++, m.self().value);
    m.write(m.at(core_id{0}, 64), &value, sizeof value);
    m.flush();
    if (m.self().value + 1 < ranks) turn.write(core_id{m.self().value + 1}, 1);
  });
  EXPECT_EQ(text_of(report.faults), "");
}

INSTANTIATE_TEST_SUITE_P(scc, under_check,
                         ::testing::Values(1, 2, 3, 5, 8, 16, support::few_cases ? 12 : 48));

}  // namespace
