// SPDX-License-Identifier: Apache-2.0
// Protocols of core and tasking over a memory that omits one step on one core: an invalidate, a
// flush, a lock, a wait. The coherence checker has to report it and the two cores involved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <creek/core/messages/communicator.hpp>
#include <creek/core/protocols/central_barrier.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/core/protocols/gather_release_barrier.hpp>
#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/core/protocols/test_and_set_barrier.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/protocols/ticket_lock.hpp>
#include <creek/core/protocols/tournament_barrier.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/tasking/lock_deque.hpp>

#include "checker_cases.hpp"

namespace {

using namespace creek;
using namespace creek::scc_backend;

enum class omission {
  none,
  invalidate,
  flush,
  lock,    ///< every attempt on a register succeeds at once
  waiting  ///< words are assumed to have the awaited value
};

/// Memory of the simulated chip in which one core omits something.
class faulty_memory : public memory {
 public:
  faulty_memory(const memory& sound, omission leaves_out, core_id on)
      : memory{sound}, leaves_out_{self() == on ? leaves_out : omission::none} {}

  void invalidate() const {
    if (leaves_out_ != omission::invalidate) memory::invalidate();
  }
  void flush() const {
    if (leaves_out_ != omission::flush) memory::flush();
  }
  [[nodiscard]] bool test_and_set(core_id id) const {
    return leaves_out_ == omission::lock || memory::test_and_set(id);
  }
  void clear(core_id id) const {
    if (leaves_out_ != omission::lock) memory::clear(id);
  }
  /// Without waiting, a word returns this core's own last value: its partner seems to be as far. If
  /// that value announced a message, its low 24 bits are the count.
  template <class T>
  [[nodiscard]] std::remove_const_t<T> load(mpm_ptr<T> p) const {
    if (leaves_out_ != omission::waiting) return memory::load(p);
    return static_cast<std::remove_const_t<T>>(said_ & 0xFFFFFF);
  }
  template <memory_word T>
  void store(mpm_ptr<T> p, std::type_identity_t<T> value) const {
    said_ = value;
    memory::store(p, value);
  }
  template <memory_word T>
  void signal(mpm_ptr<T> p, std::type_identity_t<T> value) const {
    store(p, value);
  }
  template <memory_word T, std::predicate<T> Predicate>
  T wait_until(mpm_ptr<T> p, Predicate satisfied) const {
    if (leaves_out_ == omission::waiting) return static_cast<T>(said_);
    return memory::wait_until(p, satisfied);
  }

 private:
  omission leaves_out_;
  mutable word said_ = 0;
};
static_assert(memory_policy<faulty_memory>);

constexpr int ranks = 4;

/// Runs the body on cores 0 to 3, of which one omits something; if two cores then never meet, the
/// run ends with the findings so far.
std::vector<fault> faults_with(omission what, int on,
                               const std::function<void(faulty_memory&)>& body) {
  std::vector<fault> found;
  machine_options options;
  options.check = true;
  options.stuck_after = {10'000'000'000'000};  // 10 ms
  options.on_faults = [&](const std::vector<fault>& faults) { found = faults; };
  try {
    run_cores(options, [&](memory& m) {
      if (m.self().value >= ranks) return;
      faulty_memory faulty{m, what, core_id{on}};
      body(faulty);
    });
  } catch (const error& stuck) {
    EXPECT_NE(what, omission::none) << stuck.what();
  }
  return found;
}

bool between(const fault& f, int a, int b) {
  if (!f.other) return false;
  const int found = f.found.core.value, other = f.other->core.value;
  return (found == a && other == b) || (found == b && other == a);
}

/// Expects a fault of one of the kinds, between the two cores.
void expect_found(const std::vector<fault>& faults, const std::vector<fault_kind>& kinds, int a,
                  int b) {
  for (const fault& f : faults) {
    const bool right_kind = std::ranges::find(kinds, f.kind) != kinds.end();
    if (right_kind && between(f, a, b)) return;
  }
  ADD_FAILURE() << "not found between cores " << a << " and " << b << ":\n" << text_of(faults);
}

/// Expects all faults to be of one of the kinds and to involve the core.
void expect_only(const std::vector<fault>& faults, const std::vector<fault_kind>& kinds, int core) {
  for (const fault& f : faults) {
    EXPECT_NE(std::ranges::find(kinds, f.kind), kinds.end()) << text_of(faults);
    EXPECT_TRUE(f.found.core.value == core || (f.other && f.other->core.value == core))
        << text_of(faults);
  }
}

const std::vector<fault_kind> invalidates{fault_kind::missing_invalidate};
const std::vector<fault_kind> flushes{fault_kind::missing_flush};
const std::vector<fault_kind> races{fault_kind::overwritten, fault_kind::unordered_writes,
                                    fault_kind::unordered_read};

// --- Messages -----------------------------------------------------------------------------------

using faulty_communicator = communicator<faulty_memory>;

template <class Body>
std::vector<fault> messages_with(omission what, int on, communicator_options options, Body body) {
  return faults_with(what, on, [&](faulty_memory& m) {
    std::vector<core_id> members;
    for (int i = 0; i < ranks; ++i) members.push_back(core_id{i});
    symmetric_allocator allocator{0, m.mpm_bytes(), memory::line_bytes};
    allocator.observe(m.allocations());
    faulty_communicator c{m, allocator, team{members, m.self()}, options};
    body(c);
  });
}

/// Rank 1 sends rank 2 four messages, each 100 bytes: three lines and a bit.
std::vector<fault> send_with(omission what, int on, std::uint32_t in_flight) {
  return messages_with(what, on, {.buffer_bytes = 128, .chunks_in_flight = in_flight},
                       [](faulty_communicator& c) {
                         std::vector<std::uint8_t> data(100);
                         for (int i = 1; i <= 4; ++i) {
                           data.assign(100, static_cast<std::uint8_t>(i));
                           if (c.rank() == 1) c.send(std::span<const std::uint8_t>{data}, 2);
                           if (c.rank() == 2) c.recv(std::span{data}, 1);
                         }
                       });
}

class planted_in_messages : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(planted_in_messages, nothing) {
  EXPECT_EQ(text_of(send_with(omission::none, 0, GetParam())), "");
}
TEST_P(planted_in_messages, the_receiver_does_not_invalidate) {
  const auto faults = send_with(omission::invalidate, 2, GetParam());
  expect_found(faults, invalidates, 2, 1);
  expect_only(faults, invalidates, 2);
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults[0].found.core, core_id{2});
  EXPECT_THAT(faults[0].allocation, ::testing::StartsWith("message buffer + "));
}
TEST_P(planted_in_messages, the_sender_does_not_flush) {
  const auto faults = send_with(omission::flush, 1, GetParam());
  expect_found(faults, flushes, 2, 1);
  expect_only(faults, flushes, 1);
}
TEST_P(planted_in_messages, the_sender_does_not_wait_for_an_acknowledgement) {
  auto faults = send_with(omission::waiting, 1, GetParam());
  expect_found(faults, {fault_kind::overwritten}, 1, 2);
  // At the end the sender returns the buffer that the receiver is still reading.
  std::erase_if(faults, [](const fault& f) { return f.kind == fault_kind::never_written; });
  expect_only(faults, {fault_kind::overwritten}, 1);
}
INSTANTIATE_TEST_SUITE_P(chunks, planted_in_messages, ::testing::Values(1U, 2U));

/// Rank 3 posts rank 0 eight messages; the ring has room for two.
std::vector<fault> post_with(omission what, int on) {
  return messages_with(what, on, {.buffer_bytes = 32, .mailbox_lines = 2},
                       [](faulty_communicator& c) {
                         for (int i = 1; i <= 8; ++i) {
                           if (c.rank() == 3) c.post(i, 0);
                           if (c.rank() == 0) (void)c.template take<int>(3);
                         }
                       });
}

TEST(planted_in_a_mailbox, nothing) {
  EXPECT_EQ(text_of(post_with(omission::none, 0)), "");
}
TEST(planted_in_a_mailbox, the_receiver_does_not_invalidate) {
  const auto faults = post_with(omission::invalidate, 0);
  expect_found(faults, invalidates, 0, 3);
  expect_only(faults, invalidates, 0);
}
TEST(planted_in_a_mailbox, the_sender_does_not_flush) {
  const auto faults = post_with(omission::flush, 3);
  expect_found(faults, flushes, 0, 3);
  expect_only(faults, flushes, 3);
}
TEST(planted_in_a_mailbox, the_sender_does_not_wait_for_a_free_slot) {
  const auto faults = post_with(omission::waiting, 3);
  expect_found(faults, {fault_kind::overwritten}, 3, 0);
  expect_only(faults, races, 3);
}

// --- Locks --------------------------------------------------------------------------------------

template <class MakeLock>
std::vector<fault> count_with(omission what, int on, MakeLock make_lock) {
  return faults_with(what, on, [&](faulty_memory& m) {
    auto lock = make_lock(m);
    const auto counter = m.at(core_id{0}, 1024);
    const auto begun = m.at(core_id{0}, 2048).template as<word>();
    const memory& sound = m;
    if (m.self() == core_id{0}) {
      const int zero = 0;
      sound.write(counter, &zero, sizeof zero);
      sound.flush();
      sound.store(begun, 1);
    }
    sound.wait_until(begun, [](word seen) { return seen == 1; });
    for (int i = 0; i < 4; ++i) {
      lock.lock();
      int value = 0;
      m.invalidate();
      m.read(&value, counter, sizeof value);
      ++value;
      m.write(counter, &value, sizeof value);
      m.flush();
      lock.unlock();
      m.charge(cycles{5000});  // the others' turn
    }
  });
}

template <class MakeLock>
void expect_lock_faults_found(MakeLock make_lock, omission left_open) {
  EXPECT_EQ(text_of(count_with(omission::none, 0, make_lock)), "");
  const auto stale = count_with(omission::invalidate, 2, make_lock);
  EXPECT_FALSE(stale.empty());
  expect_only(stale, invalidates, 2);
  const auto held_back = count_with(omission::flush, 2, make_lock);
  EXPECT_FALSE(held_back.empty());
  expect_only(held_back, flushes, 2);
  const auto open = count_with(left_open, 2, make_lock);
  // A core that does not wait also lets other cores in too early.
  EXPECT_TRUE(std::ranges::any_of(open, [](const fault& f) {
    return f.found.core == core_id{2} || (f.other && f.other->core == core_id{2});
  })) << text_of(open);
  for (const fault& f : open) {
    EXPECT_NE(std::ranges::find(races, f.kind), races.end()) << text_of(open);
  }
}

TEST(planted_in_a_lock, test_and_set) {
  expect_lock_faults_found([](auto& m) { return test_and_set_lock(m, core_id{0}); },
                           omission::lock);
}
TEST(planted_in_a_lock, ticket) {
  expect_lock_faults_found([](auto& m) { return ticket_lock(m, core_id{3}, 64, counter_id{1}); },
                           omission::waiting);
}

// --- Barriers -----------------------------------------------------------------------------------

/// Makes each core write a block for its neighbour, which reads it after the barrier.
template <class MakeBarrier>
std::vector<fault> meet_with(omission what, int on, MakeBarrier make_barrier) {
  return faults_with(what, on, [&](faulty_memory& m) {
    std::vector<core_id> members;
    for (int i = 0; i < ranks; ++i) members.push_back(core_id{i});
    auto barrier = make_barrier(m, team{members, m.self()});
    for (int i = 0; i < 3; ++i) {
      const int neighbour = (m.self().value + 1) % ranks;
      std::array<int, 3> values{i, i, i};
      m.write(m.at(core_id{neighbour}, 1024), values.data(), sizeof values);
      m.flush();
      barrier.wait();
      m.invalidate();
      m.read(values.data(), m.at(m.self(), 1024), sizeof values);
      barrier.wait();
    }
  });
}

template <class MakeBarrier>
void expect_barrier_faults_found(MakeBarrier make_barrier, omission left_open = omission::waiting) {
  EXPECT_EQ(text_of(meet_with(omission::none, 0, make_barrier)), "");
  expect_found(meet_with(omission::invalidate, 2, make_barrier), invalidates, 2, 1);
  expect_found(meet_with(omission::flush, 2, make_barrier), flushes, 2, 3);
  auto faults = meet_with(left_open, 2, make_barrier);
  // Core 2 may read what no core has written yet, or core 3 what core 2 overwrites.
  std::erase_if(faults, [](const fault& f) { return f.kind == fault_kind::never_written; });
  EXPECT_FALSE(faults.empty());
  for (const fault& f : faults) {
    EXPECT_NE(std::ranges::find(races, f.kind), races.end()) << text_of(faults);
  }
}

TEST(planted_in_a_barrier, dissemination) {
  expect_barrier_faults_found(
      [](auto& m, team t) { return dissemination_barrier<faulty_memory>(m, t, 0); });
}
TEST(planted_in_a_barrier, tournament) {
  expect_barrier_faults_found(
      [](auto& m, team t) { return tournament_barrier<faulty_memory>(m, t, 0); });
}
TEST(planted_in_a_barrier, central) {
  expect_barrier_faults_found(
      [](auto& m, team t) { return central_barrier<faulty_memory>(m, t, 0, counter_id{5}); });
}
TEST(planted_in_a_barrier, gather_release) {
  expect_barrier_faults_found(
      [](auto& m, team t) { return gather_release_barrier<faulty_memory>(m, t, 0); });
}
TEST(planted_in_a_barrier, test_and_set) {
  expect_barrier_faults_found(
      [](auto& m, team t) { return test_and_set_barrier<faulty_memory>(m, t); }, omission::lock);
}

// --- The deque of tasks -------------------------------------------------------------------------

/// Core 1 creates tasks, the others steal.
std::vector<fault> steal_with(omission what, int on) {
  return faults_with(what, on, [](faulty_memory& m) {
    lock_deque<faulty_memory, checked_task> deque{core_id{1}, m.at(core_id{1}, 64), 3};
    const memory& sound = m;
    const auto state = m.at(core_id{1}, 0).as<word>();
    checked_task t{};
    if (m.self() == core_id{1}) {
      deque.reset(m);
      sound.store(state, 1);
      for (std::uint32_t i = 0; i < 60; ++i) {
        t.words.fill(i);
        for (int tries = 0; tries < 100 && !deque.push(m, t); ++tries) sound.pause(cycles{100});
        if (i % 8 == 0) (void)deque.pop_newest(m, t);
      }
      sound.store(state, 2);
      return;
    }
    sound.wait_until(state, [](word seen) { return seen != 0; });
    while (sound.load(state) == 1) {
      (void)deque.steal_oldest(m, t);
      sound.pause(cycles{20});
    }
  });
}

TEST(planted_in_the_deque, nothing) {
  EXPECT_EQ(text_of(steal_with(omission::none, 0)), "");
}
TEST(planted_in_the_deque, the_owner_does_not_flush) {
  const auto faults = steal_with(omission::flush, 1);
  EXPECT_FALSE(faults.empty());
  expect_only(faults, flushes, 1);
}
TEST(planted_in_the_deque, a_thief_does_not_invalidate) {
  const auto faults = steal_with(omission::invalidate, 2);
  expect_found(faults, invalidates, 2, 1);
  expect_only(faults, invalidates, 2);
}
TEST(planted_in_the_deque, a_thief_does_not_lock) {
  const auto faults = steal_with(omission::lock, 2);
  expect_found(faults, races, 2, 1);
  expect_only(faults, races, 2);
}

}  // namespace
