// SPDX-License-Identifier: Apache-2.0
// Off-chip memory: shared and private, its costs alone and under contention, look-up tables,
// interrupts and halting.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/interrupts.hpp>
#include <creek/scc/lookup_table.hpp>
#include <creek/scc/shared_memory.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;

template <class F>
run_report alone(F f, int core = 4, const machine_options& options = {}) {
  return run_cores(options, [&](memory& m) {
    if (m.self() == core_id{core}) f(m);
  });
}

double megabytes_a_second(double bytes, virtual_time span) {
  return bytes / span.in_seconds().value / 1e6;
}

template <class Operation>
double rate(memory& m, double bytes, Operation operation) {
  const virtual_time begin = m.now();
  operation();
  return megabytes_a_second(bytes, m.now() - begin);
}

void expect_near_paper(double measured, double paper) {
  EXPECT_NEAR(measured, paper, 0.03 * paper);
}

// [van Tol 2011], one core at 533/800/800.
TEST(private_memory, has_the_throughput_of_its_working_set) {
  alone([](memory& m) {
    constexpr std::size_t bytes = 1 << 20;
    constexpr std::size_t l1 = 16 << 10, l2 = 256 << 10, dram = 1 << 20;
    const auto read = [&](std::size_t set) {
      return rate(m, bytes, [&] { m.private_read(bytes, set); });
    };
    const auto write = [&](std::size_t set, write_mode mode) {
      return rate(m, bytes, [&] { m.private_write(bytes, set, mode); });
    };
    expect_near_paper(read(l1), 400);
    expect_near_paper(read(l2), 285);
    expect_near_paper(read(dram), 107);
    EXPECT_EQ(read(cold), read(dram));
    expect_near_paper(write(l1, write_mode::cached), 400);
    expect_near_paper(write(l2, write_mode::cached), 116);
    expect_near_paper(write(l2, write_mode::combined), 130);
    expect_near_paper(write(dram, write_mode::cached), 22);
    expect_near_paper(write(dram, write_mode::combined), 125);
  });
}

TEST(shared_memory, has_the_throughput_of_its_mode) {
  alone([](memory& m) {
    std::array<std::byte, 1024> block{};
    expect_near_paper(rate(m, 4000,
                           [&] {
                             for (std::size_t i = 0; i < 1000; ++i) {
                               (void)m.load(shared_memory(m).at(4 * i).as<word>());
                             }
                           }),
                      20);
    expect_near_paper(rate(m, 64 * 1024,
                           [&] {
                             for (std::size_t i = 0; i < 64; ++i) {
                               m.read(block.data(), shared_memory(m).at(1024 * i), block.size());
                             }
                           }),
                      107);
    expect_near_paper(rate(m, 64 * 1024,
                           [&] {
                             for (std::size_t i = 0; i < 64; ++i) {
                               m.write(shared_memory(m).at(1024 * i), block.data(), block.size());
                             }
                           }),
                      125);
  });
}

TEST(shared_memory, is_seen_by_all_but_goes_stale_in_L1) {
  run_cores({}, [](memory& m) {
    const auto flag = shared_memory(m).at(0).as<word>();
    const auto data = shared_memory(m).at(4096);
    int value = 0;
    if (m.self() == core_id{0}) {
      m.read(&value, data, sizeof value);
      m.wait_until(flag, [](word seen) { return seen == 1; });
      m.read(&value, data, sizeof value);
      EXPECT_EQ(value, 0) << "stale";
      m.invalidate();
      m.read(&value, data, sizeof value);
      EXPECT_EQ(value, 42);
    } else if (m.self() == core_id{30}) {
      m.charge(cycles{5000});
      value = 42;
      m.write(data, &value, sizeof value);
      m.flush();
      m.store(flag, 1);
    }
  });
}

TEST(shared_memory, is_handed_out_alike_on_all_cores) {
  std::vector<std::vector<std::byte*>> places(48);
  run_cores({}, [&](memory& m) {
    auto& mine = places[m.self().index()];
    const auto a = shared_memory(m).allocate(100),
               b = shared_memory(m).allocate(std::size_t{1} << 20);
    shared_memory(m).free(a);
    const auto c = shared_memory(m).allocate(32), d = shared_memory(m).allocate(96),
               e = shared_memory(m).allocate(96);
    EXPECT_EQ(c, a) << "first fit";
    for (const auto p : {a, b, c, d, e}) mine.push_back(p.address());
    EXPECT_FALSE(shared_memory(m).allocate(std::size_t{64} << 20));
    EXPECT_FALSE(shared_memory(m).allocate(~std::size_t{0}));
    for (const auto p : {b, c, d, e}) shared_memory(m).free(p);
    EXPECT_EQ(shared_memory(m).allocate(std::size_t{64} << 20), a) << "all gaps have joined";
  });
  EXPECT_EQ(places, std::vector(48, places[0]));
}

/// Returns GB/s of `cores` that write whole lines to the given blocks, in random order, from when
/// all have begun until the first ends.
double contended(int cores, const std::vector<lut_entry>& blocks) {
  constexpr int window = 0x40;  // an entry that is free at the start
  const virtual_time begin{20'000'000'000}, end{220'000'000'000};
  double bytes = 0;
  run_cores({}, [&](memory& m) {
    if (m.self().value >= cores) return;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      lookup_table(m).set_entry(m.self(), window + static_cast<int>(i), blocks[i]);
    }
    std::array<std::byte, 32> line{};
    std::uint32_t random = static_cast<std::uint32_t>(m.self().value) * 2654435761U + 1;
    while (m.now() < end) {
      random = random * 1664525U + 1013904223U;
      const auto block = static_cast<std::uint32_t>((random >> 24) % blocks.size());
      const std::uint32_t place = (random >> 4) % (1U << 19);
      m.write(lookup_table(m).mapped(((window + block) << 24) + 32 * place), line.data(),
              line.size());
      if (m.now() >= begin && m.now() < end) bytes += 32;
    }
  });
  return megabytes_a_second(bytes, end - begin) / 1000;
}

TEST(contention, saturates_a_rank_and_a_controller) {
  const auto at = [](int controller, std::uint64_t block) {
    return lut_entry{lut_entry::target::dram, controller, block * lut_block_bytes};
  };
  EXPECT_NEAR(contended(9, {at(0, 0)}), 1.0, 0.03);
  EXPECT_NEAR(contended(30, {at(0, 0)}), 1.02, 0.03) << "no more to be had";
  EXPECT_NEAR(contended(19, {at(0, 0), at(0, 1)}), 1.8, 0.054);
}

TEST(look_up_table, shows_the_memory_of_another_core) {
  run_cores({}, [](memory& m) {
    const auto own = lookup_table(m).mapped(0x100);
    if (m.self() == core_id{5}) {
      m.store(own.as<word>(), 77);
      m.store(shared_memory(m).at(0).as<word>(), 1);
    } else if (m.self() == core_id{40}) {
      m.wait_until(shared_memory(m).at(0).as<word>(), [](word seen) { return seen == 1; });
      EXPECT_EQ(m.load(own.as<word>()), 0U) << "a memory of its own";
      EXPECT_THROW((void)lookup_table(m).mapped(0x40000100), usage_error) << "nothing there yet";
      lookup_table(m).set_entry(m.self(), 0x40, lookup_table(m).private_block(core_id{5}));
      EXPECT_EQ(m.load(lookup_table(m).mapped(0x40000100).as<word>()), 77U);
      EXPECT_EQ(lookup_table(m).entry(m.self(), 0x40), lookup_table(m).private_block(core_id{5}));
      lookup_table(m).set_entry(m.self(), 0x40, lookup_table(m).private_block(m.self()));
      EXPECT_EQ(m.load(lookup_table(m).mapped(0x40000100).as<word>()), 0U) << "at once";
    }
  });
}

TEST(look_up_table, begins_as_on_the_chip) {
  alone([](memory& m) {
    EXPECT_EQ(lookup_table(m).mapped(0x80000000), shared_memory(m).at(0));
    EXPECT_EQ(lookup_table(m).mapped(0x83000000), shared_memory(m).at(std::size_t{48} << 20));
    EXPECT_EQ(lookup_table(m).mapped(0xC0000000), m.at(core_id{0}, 0));
    EXPECT_EQ(lookup_table(m).mapped(0xC5002000), m.at(core_id{11}, 0))
        << "tile 5, its second core";
    EXPECT_EQ(lookup_table(m).mapped(0xD8000000), m.at(core_id{4}, 0)) << "the own tile";
    EXPECT_THROW((void)lookup_table(m).mapped(0xD8004000), usage_error) << "past the tile's 16 KB";
    EXPECT_THROW((void)lookup_table(m).mapped(0xF0000000), usage_error);
    EXPECT_THROW((void)lookup_table(m).entry(m.self(), 256), usage_error);
    EXPECT_THROW(lookup_table(m).set_entry(m.self(), 1, {lut_entry::target::mpb, 24, 0}),
                 usage_error);
    EXPECT_THROW(lookup_table(m).set_entry(m.self(), 1, {lut_entry::target::dram, 0, 5}),
                 usage_error);
    EXPECT_THROW((void)shared_memory(m).at(shared_memory(m).bytes()), usage_error);
    EXPECT_THROW((void)lookup_table(m).private_block(core_id{48}), usage_error);
    EXPECT_THROW(shared_memory(m).free(shared_memory(m).at(64)), usage_error);
  });
}

TEST(look_up_table, is_read_at_the_time_of_its_reader) {
  run_cores({}, [](memory& m) {
    constexpr int entry = 0x50;
    const std::uint32_t address = std::uint32_t{entry} << 24;
    if (m.self() == core_id{0}) {
      m.charge(cycles{100'000});
      EXPECT_EQ(lookup_table(m).mapped(address), shared_memory(m).at(0))
          << "set long ago, by a core simulated later";
    } else if (m.self() == core_id{1}) {
      lookup_table(m).set_entry(core_id{0}, entry,
                                lookup_table(m).location(shared_memory(m).at(0)).block);
    }
  });
}

TEST(interrupts, run_a_handler_and_wake_who_halts) {
  std::vector<int> pins;
  virtual_time raised, entered;
  run_cores({}, [&](memory& m) {
    if (m.self() == core_id{0}) {
      interrupt_pins(m).set_handler([&](int pin) {
        pins.push_back(pin);
        if (pin == 1) entered = m.now();
      });
      interrupt_pins(m).halt();
      EXPECT_EQ(pins, std::vector<int>{1});
      m.wait_until(m.at(core_id{0}, 0).as<word>(), [](word seen) { return seen == 1; });
      EXPECT_EQ(pins, (std::vector<int>{1, 0})) << "while it waited";
    } else if (m.self() == core_id{9}) {
      m.charge(cycles{100'000});
      raised = m.now();
      interrupt_pins(m).raise(core_id{0}, 1);
      m.charge(cycles{100'000});
      interrupt_pins(m).raise(core_id{0});
      m.charge(cycles{100'000});
      m.store(m.at(core_id{0}, 0).as<word>(), 1);
    }
  });
  const double late = (entered - raised).in_seconds().value * 533.33e6;
  EXPECT_GT(late, 600);
  EXPECT_LT(late, 700);
}

TEST(interrupts, reach_a_core_at_its_next_operation) {
  int taken = 0;
  run_cores({}, [&](memory& m) {
    if (m.self() == core_id{0}) {
      interrupt_pins(m).set_handler([&](int) {
        ++taken;
        m.charge(cycles{10});  // the handler's own operations are not interrupted
      });
      m.charge(cycles{10'000});
      for (int i = 0; i < 100; ++i) (void)m.load(m.at(core_id{1}, 0).as<word>());
      EXPECT_EQ(taken, 1) << "raised twice while it was up: one interrupt";
    } else if (m.self() == core_id{1}) {
      interrupt_pins(m).raise(core_id{0});
      interrupt_pins(m).raise(core_id{0});
    }
  });
  EXPECT_EQ(taken, 1);
}

TEST(interrupts, end_a_halt_that_they_come_before) {
  bool done = false;
  const run_report report = run_cores({}, [&](memory& m) {
    if (m.self() == core_id{0}) {
      interrupt_pins(m).set_handler([&](int) { done = true; });
      (void)m.load(m.at(core_id{47}, 0).as<word>());  // meanwhile the pin is raised
      while (!done) interrupt_pins(m).halt();         // no core raises it again
    } else if (m.self() == core_id{1}) {
      interrupt_pins(m).raise(core_id{0});
    }
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(report.usage.cores[0].interrupts, 1U);
}

TEST(interrupts, are_counted_without_a_handler_too) {
  const run_report report = run_cores({}, [](memory& m) {
    if (m.self() == core_id{0}) interrupt_pins(m).halt();
    if (m.self() == core_id{1}) interrupt_pins(m).raise(core_id{0});
  });
  EXPECT_EQ(report.usage.cores[0].interrupts, 1U);
}

TEST(interrupts, refuse_what_is_no_core) {
  alone([](memory& m) {
    EXPECT_THROW(interrupt_pins(m).raise(core_id{48}), usage_error);
    EXPECT_THROW(interrupt_pins(m).raise(core_id{0}, 2), usage_error);
  });
}

std::string deadlock_of(void (*body)(memory&), machine_options options = {}) {
  try {
    run_cores(options, body);
  } catch (const error& failure) {
    EXPECT_EQ(failure.code().value(), EDEADLK);
    return failure.what();
  }
  return "it ended";
}

TEST(deadlock, of_halted_cores_is_seen) {
  const std::string what = deadlock_of([](memory& m) {
    if (m.self() == core_id{3}) interrupt_pins(m).halt();
  });
  EXPECT_NE(what.find("core 3 waits for an interrupt"), what.npos) << what;
}

TEST(deadlock, of_cores_that_spin_on_a_register_is_seen) {
  const std::string what = deadlock_of([](memory& m) {
    if (m.self().value > 1) return;
    while (!m.test_and_set(core_id{7})) m.pause(cycles{5000});  // no core releases it
  });
  EXPECT_NE(what.find("polls, last for test-and-set register 7"), what.npos) << what;
}

TEST(deadlock, is_not_a_long_walk_over_memory) {
  run_cores({}, [](memory& m) {
    if (m.self() != core_id{0}) return;
    m.private_read(std::size_t{200} << 20, cold);  // nearly two seconds
    EXPECT_EQ(m.load(m.at(core_id{1}, 0).as<word>()), 0U);
    EXPECT_GT(m.now().in_seconds().value, 1.5);
  });
}

TEST(deadlock, is_not_what_goes_on_at_last) {
  run_cores({}, [](memory& m) {
    if (m.self().value > 1) return;
    while (!m.test_and_set(core_id{7})) m.pause(cycles{500'000});
    m.charge(cycles{2'000'000'000});  // nearly four seconds with the lock held
    m.clear(core_id{7});
  });
}

}  // namespace
