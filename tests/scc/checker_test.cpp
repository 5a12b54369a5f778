// SPDX-License-Identifier: Apache-2.0
// The coherence checker on programs of a few lines: each kind of fault once, with the right cores,
// times and places, and beside it the correct program, for which it reports nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <creek/core/protocols/flag.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/scc/interrupts.hpp>
#include <creek/scc/shared_memory.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;
using ::testing::HasSubstr;

using program = std::function<void(memory&)>;

/// Runs two programs under the checker, on cores 0 and 5.
std::vector<fault> check(
    const program& on_0, const program& on_5 = [](memory&) {}) {
  const machine_options options{.check = true};
  return run_cores(options,
                   [&](memory& m) {
                     if (m.self() == core_id{0}) on_0(m);
                     if (m.self() == core_id{5}) on_5(m);
                   })
      .faults;
}

constexpr std::size_t data_at = 64, flag_at = 0, answer_at = 32;

mpm_ptr<word> word_of(memory& m, int core, std::size_t at) {
  return m.at(core_id{core}, at).as<word>();
}
void await(memory& m, std::size_t at, word value) {
  m.wait_until(word_of(m, 0, at), [=](word seen) { return seen == value; });
}
/// Writes `value` into core 0's memory.
void put(memory& m, int value) {
  m.write(m.at(core_id{0}, data_at), &value, sizeof value);
}
int get(memory& m) {
  int value = 0;
  m.read(&value, m.at(core_id{0}, data_at), sizeof value);
  return value;
}
void announce(memory& m, std::size_t at, word value) {
  m.signal(word_of(m, 0, at), value);
}

/// Returns the only fault, of this kind, found on `by` and, if any, in conflict with `other`.
const fault& only(const std::vector<fault>& faults, fault_kind kind, int by, int other) {
  static const fault none{};
  EXPECT_EQ(faults.size(), 1U);
  if (faults.empty()) return none;
  const fault& f = faults.front();
  std::ostringstream text;
  print(text, faults);
  EXPECT_EQ(name_of(f.kind), name_of(kind)) << text.str();
  EXPECT_EQ(f.found.core, core_id{by}) << text.str();
  EXPECT_EQ(f.other.has_value(), other >= 0);
  if (f.other) {
    EXPECT_EQ(f.other->core, core_id{other}) << text.str();
  }
  EXPECT_EQ(f.owner, core_id{0});
  return f;
}

/// Core 5 writes twice, core 0 reads each time, with the steps that a correct program has between.
struct exchange {
  bool invalidates = true, flushes = true, acknowledges = true, awaits = true;

  void reader(memory& m) const {
    for (word round = 1; round <= 2; ++round) {
      if (awaits) await(m, flag_at, round);
      if (invalidates) m.invalidate();
      EXPECT_GE(get(m), 0);
      if (acknowledges) announce(m, answer_at, round);
    }
  }
  void writer(memory& m) const {
    for (word round = 1; round <= 2; ++round) {
      if (round == 2 && acknowledges) await(m, answer_at, 1);
      if (round == 2) m.charge(cycles{10'000});
      put(m, static_cast<int>(round));
      if (flushes) m.flush();
      announce(m, flag_at, round);
    }
    m.flush();
  }
  [[nodiscard]] std::vector<fault> run() const {
    return check([this](memory& m) { reader(m); }, [this](memory& m) { writer(m); });
  }
};

TEST(coherence_check, says_nothing_of_a_sound_exchange) {
  EXPECT_TRUE(exchange{}.run().empty());
}

TEST(coherence_check, finds_a_missing_invalidate) {
  const auto faults = exchange{.invalidates = false}.run();
  const fault& f = only(faults, fault_kind::missing_invalidate, 0, 5);
  EXPECT_EQ(f.offset, data_at);
  EXPECT_EQ(f.bytes, 1U) << "of 1 and 2, one byte differs";
  ASSERT_TRUE(f.other);
  EXPECT_LT(f.other->at, f.found.at);
}

TEST(coherence_check, lets_a_stale_line_be_read_where_it_did_not_change) {
  const auto reader = [](memory& m, std::size_t second) {
    std::array<int, 2> values{};
    await(m, flag_at, 1);
    m.invalidate();
    m.read(values.data(), m.at(core_id{0}, data_at), sizeof values);
    announce(m, answer_at, 1);
    await(m, flag_at, 2);
    m.read(values.data(), m.at(core_id{0}, data_at + second), sizeof(int));
  };
  const auto writer = [](memory& m) {
    std::array<int, 2> values{1, 2};
    m.write(m.at(core_id{0}, data_at), values.data(), sizeof values);
    m.flush();
    announce(m, flag_at, 1);
    await(m, answer_at, 1);
    put(m, 7);
    m.flush();
    announce(m, flag_at, 2);
  };
  EXPECT_TRUE(check([&](memory& m) { reader(m, sizeof(int)); }, writer).empty());
  only(check([&](memory& m) { reader(m, 0); }, writer), fault_kind::missing_invalidate, 0, 5);
}

TEST(coherence_check, finds_a_missing_flush) {
  const auto faults = exchange{.flushes = false}.run();
  const fault& f = only(faults, fault_kind::missing_flush, 0, 5);
  EXPECT_GE(f.count, 1U);
}

TEST(coherence_check, finds_a_missing_flush_that_did_no_harm) {
  const auto faults = check(
      [](memory& m) {
        await(m, flag_at, 1);
        m.charge(cycles{50'000});  // long enough for the data to arrive anyway
        m.invalidate();
        EXPECT_EQ(get(m), 7);
      },
      [](memory& m) {
        put(m, 7);
        announce(m, flag_at, 1);
        m.flush();
      });
  only(faults, fault_kind::missing_flush, 0, 5);
}

TEST(coherence_check, finds_that_a_core_missed_its_own_flush) {
  const auto faults = check([](memory& m) {
    put(m, 7);
    EXPECT_EQ(get(m), 0);
  });
  only(faults, fault_kind::missing_flush, 0, 0);
}

TEST(coherence_check, lets_a_core_read_its_own_line_in_L1) {
  const auto faults = check([](memory& m) {
    put(m, 1);
    m.flush();
    EXPECT_EQ(get(m), 1);
    put(m, 7);
    EXPECT_EQ(get(m), 7);
  });
  EXPECT_TRUE(faults.empty());
}

TEST(coherence_check, finds_a_slot_overwritten_before_its_reader_acknowledged) {
  const auto faults = exchange{.acknowledges = false}.run();
  const fault& f = only(faults, fault_kind::overwritten, 5, 0);
  ASSERT_TRUE(f.other);
  EXPECT_EQ(f.other->what, "read");
}

TEST(coherence_check, finds_a_read_that_waited_for_nothing) {
  const auto faults = check(
      [](memory& m) {
        m.charge(cycles{100'000});
        EXPECT_EQ(get(m), 3) << "it came by luck";
      },
      [](memory& m) {
        put(m, 3);
        m.flush();
      });
  only(faults, fault_kind::unordered_read, 0, 5);
}

/// Makes both cores count up, with or without a lock.
std::vector<fault> count_up(bool locks) {
  const program count = [=](memory& m) {
    test_and_set_lock lock{m, core_id{0}};
    if (locks) lock.lock();
    put(m, m.self().value);
    m.flush();
    if (locks) lock.unlock();
  };
  return check(count, count);
}

TEST(coherence_check, finds_unordered_writes) {
  EXPECT_TRUE(count_up(true).empty());
  const auto faults = count_up(false);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].kind, fault_kind::unordered_writes);
}

TEST(coherence_check, lets_words_race_but_not_a_word_with_a_block) {
  const program store = [](memory& m) { announce(m, data_at, 1); };
  EXPECT_TRUE(check(store, store).empty());
  const auto faults = check(
      [&](memory& m) {
        m.charge(cycles{10'000});
        store(m);
      },
      [](memory& m) {
        put(m, 1);
        m.flush();
      });
  only(faults, fault_kind::unordered_writes, 0, 5);
}

TEST(coherence_check, lets_neighbours_in_a_line_be) {
  const program write_own = [](memory& m) {
    const int value = 1;
    m.write(m.at(core_id{0}, data_at + 4 * m.self().index()), &value, sizeof value);
    m.flush();
  };
  EXPECT_TRUE(check(write_own, write_own).empty());
}

TEST(coherence_check, finds_a_block_that_nobody_wrote) {
  const auto faults = check([](memory& m) { (void)get(m); });
  const fault& f = only(faults, fault_kind::never_written, 0, -1);
  EXPECT_EQ(f.bytes, 4U);
  EXPECT_TRUE(check([](memory& m) { (void)m.load(word_of(m, 0, flag_at)); }).empty())
      << "words are zero at first";
}

TEST(coherence_check, orders_by_counters_and_registers) {
  const counter_id turn{3};
  const auto faults = check(
      [=](memory& m) {
        put(m, 1);
        m.flush();
        (void)m.fetch_increment(turn);
      },
      [=](memory& m) {
        m.charge(cycles{10'000});
        ASSERT_EQ(m.fetch_increment(turn), 1U);
        m.invalidate();
        EXPECT_EQ(get(m), 1);
      });
  EXPECT_TRUE(faults.empty());
}

TEST(coherence_check, orders_by_interrupts) {
  const auto faults = check(
      [](memory& m) {
        interrupt_pins(m).halt();
        m.invalidate();
        EXPECT_EQ(get(m), 9);
      },
      [](memory& m) {
        put(m, 9);
        m.flush();
        interrupt_pins(m).raise(core_id{0});
      });
  EXPECT_TRUE(faults.empty());
}

TEST(coherence_check, follows_shared_memory_off_the_chip) {
  const auto run = [](bool flushes) {
    return check(
        [](memory& m) {
          const auto block = shared_memory(m).allocate(64);
          await(m, flag_at, 1);
          m.invalidate();
          int value = 0;
          m.read(&value, block + 4, sizeof value);
          shared_memory(m).free(block);
        },
        [=](memory& m) {
          const auto block = shared_memory(m).allocate(64);
          const int value = 5;
          m.write(block + 4, &value, sizeof value);
          if (flushes) m.flush();
          announce(m, flag_at, 1);
        });
  };
  EXPECT_TRUE(run(true).empty());
  const auto faults = run(false);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].kind, fault_kind::missing_flush);
  EXPECT_FALSE(faults[0].owner);
  EXPECT_EQ(faults[0].offset, 4U);
  EXPECT_EQ(faults[0].allocation, "shared memory + 4");
}

// --- Allocation ---------------------------------------------------------------------------------

struct allocating {
  explicit allocating(memory& m) : allocator{0, m.mpm_bytes(), memory::line_bytes} {
    allocator.observe(m.allocations());
  }
  symmetric_allocator allocator;
};

TEST(coherence_check, keeps_writes_past_the_buffer_apart_from_those_in_it) {
  const std::array<std::byte, 32> around{std::byte{2}};
  EXPECT_THAT(check(
                  [&](memory& m) {
                    put(m, 5);  // waits in the write-combine buffer
                    m.write_around(m.at(core_id{0}, data_at + 32), around.data(), around.size());
                    m.flush();
                    m.store(word_of(m, 0, flag_at), 1);
                  },
                  [&](memory& m) {
                    await(m, flag_at, 1);
                    EXPECT_EQ(get(m), 5);
                    std::byte seen{};
                    m.read(&seen, m.at(core_id{0}, data_at + 32), 1);
                    EXPECT_EQ(seen, std::byte{2});
                  }),
              ::testing::IsEmpty());
}

TEST(coherence_check, names_the_block) {
  const auto faults = check([](memory& m) {
    allocating a{m};
    const auto first = a.allocator.allocate(64, "slots"), second = a.allocator.allocate(64, "ring");
    int value = 0;
    m.read(&value, m.at(m.self(), second->offset() + 8), sizeof value);
  });
  EXPECT_EQ(only(faults, fault_kind::never_written, 0, -1).allocation, "ring + 8");
}

TEST(coherence_check, finds_a_use_after_free) {
  const auto use = [](bool after) {
    return check([=](memory& m) {
      allocating a{m};
      auto block = a.allocator.allocate(64, "slots");
      const auto place = m.at(m.self(), block->offset());
      const int value = 1;
      m.write(place, &value, sizeof value);
      m.flush();
      if (after) block.reset();
      m.write(place, &value, sizeof value);
      m.flush();
    });
  };
  EXPECT_TRUE(use(false).empty());
  const fault f = only(use(true), fault_kind::used_after_free, 0, 0);
  EXPECT_EQ(f.allocation, "slots + 0");
  EXPECT_EQ(f.other->what, "freed it");
}

TEST(coherence_check, knows_which_part_of_a_freed_block_was_given_out_again) {
  const auto write_at = [](std::size_t offset) {
    return check([=](memory& m) {
      allocating a{m};
      (void)a.allocator.allocate(64, "first");
      const auto again = a.allocator.allocate(32, "second");
      const int value = 1;
      m.write(m.at(m.self(), offset), &value, sizeof value);
      m.flush();
    });
  };
  EXPECT_TRUE(write_at(0).empty());
  EXPECT_EQ(only(write_at(32), fault_kind::used_after_free, 0, 0).allocation, "first + 32");
}

TEST(coherence_check, finds_what_was_written_before_the_block_was_this_one) {
  const auto faults = check([](memory& m) {
    allocating a{m};
    const int value = 1;
    {
      const auto block = a.allocator.allocate(64, "first");
      m.write(m.at(m.self(), block->offset()), &value, sizeof value);
      m.flush();
    }
    const auto block = a.allocator.allocate(64, "second");
    int got = 0;
    m.read(&got, m.at(m.self(), block->offset()), sizeof got);
  });
  EXPECT_EQ(only(faults, fault_kind::never_written, 0, -1).allocation, "second + 0");
}

TEST(coherence_check, finds_a_leak_of_a_program_that_frees) {
  const auto lose = [](bool frees) {
    return check([=](memory& m) {
      allocating a{m};
      if (frees) (void)a.allocator.allocate(32, "slots");
      auto* lost = new mpm_block{*a.allocator.allocate(32, "slots")};
      a.allocator.observe(nullptr);
      delete lost;  // too late for the checker, in time for the heap
    });
  };
  EXPECT_TRUE(lose(false).empty());
  EXPECT_EQ(only(lose(true), fault_kind::leaked, 0, -1).allocation, "slots + 0");
}

// --- The report ---------------------------------------------------------------------------------

TEST(coherence_check, counts_what_happens_again) {
  const auto faults = check([](memory& m) {
    for (int i = 0; i < 10; ++i) {
      int value = 0;
      m.read(&value, m.at(core_id{0}, 32 * static_cast<std::size_t>(i)), sizeof value);
    }
  });
  EXPECT_EQ(only(faults, fault_kind::never_written, 0, -1).count, 10U);
}

[[gnu::noinline]] void a_function_with_a_name(memory& m) {
  (void)get(m);
  m.charge(cycles{1});  // prevents the compiler from turning the call above into a jump
}

TEST(coherence_check, prints_what_where_when_and_who) {
  const auto faults = check([](memory& m) { a_function_with_a_name(m); });
  std::ostringstream out;
  print(out, faults);
  EXPECT_THAT(out.str(), HasSubstr("coherence check: never written: 4 bytes of core 0 + 64"));
  EXPECT_THAT(out.str(), HasSubstr("  core 0 read at "));
  EXPECT_THAT(out.str(), HasSubstr(" ns\n"));
  EXPECT_THAT(out.str(), HasSubstr("a_function_with_a_name"));
  EXPECT_THAT(out.str(), HasSubstr("coherence check: 1 fault\n"));
}

TEST(coherence_check, reports_before_a_run_fails) {
  std::size_t told = 0;
  machine_options options{.check = true};
  options.on_faults = [&](const std::vector<fault>& faults) { told = faults.size(); };
  EXPECT_THROW(run_cores(options,
                         [](memory& m) {
                           if (m.self() != core_id{0}) return;
                           (void)get(m);
                           throw std::runtime_error("the data were wrong");
                         }),
               std::runtime_error);
  EXPECT_EQ(told, 1U);
}

TEST(coherence_check, changes_no_virtual_time) {
  const auto run = [](bool checks) {
    machine_options options;
    options.check = checks;
    return run_cores(options, [](memory& m) {
      for (int i = 0; i < 20; ++i) {
        put(m, i);
        m.flush();
        m.invalidate();
        (void)get(m);
      }
    });
  };
  EXPECT_EQ(run(true).ended, run(false).ended);
  EXPECT_TRUE(run(false).faults.empty());
  EXPECT_FALSE(run(true).faults.empty());
}

TEST(coherence_check, reports_the_same_in_every_run) {
  const auto text = [] {
    std::ostringstream out;
    print(out, count_up(false));
    return out.str();
  };
  EXPECT_EQ(text(), text());
}

}  // namespace
