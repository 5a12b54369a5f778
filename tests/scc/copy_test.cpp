// SPDX-License-Identifier: Apache-2.0
// Ways to copy off-chip memory: all copy the same bytes, each at its published speed.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/scc/copy.hpp>
#include <creek/scc/lookup_table.hpp>
#include <creek/scc/shared_memory.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;
using namespace creek::scc_backend;

constexpr std::size_t size = 100'000;
constexpr std::size_t source_at = 4096, target_at = std::size_t{1} << 20;

std::vector<std::uint8_t> numbered() {
  std::vector<std::uint8_t> made(size);
  std::iota(made.begin(), made.end(), std::uint8_t{3});
  return made;
}

void fill(memory& m, mpm_ptr<std::byte> at) {
  const auto bytes = numbered();
  m.write(at, bytes.data(), bytes.size());
  m.flush();
}

void expect_copied(memory& m, mpm_ptr<std::byte> at) {
  std::vector<std::uint8_t> found(size);
  m.invalidate();
  m.read(found.data(), at, size);
  EXPECT_EQ(found, numbered());
}

/// Returns the MB/s on a core two hops from its controller.
double rate(copy_method how, std::size_t working_set = cold) {
  double result = 0;
  run_cores({}, [&](memory& m) {
    if (m.self() != core_id{4}) return;
    fill(m, lookup_table(m).mapped(source_at));
    m.invalidate();
    const virtual_time begin = m.now();
    copy(m, lookup_table(m).mapped(target_at), lookup_table(m).mapped(source_at), size, how,
         working_set);
    result = size / (m.now() - begin).in_seconds().value / 1e6;
    expect_copied(m, lookup_table(m).mapped(target_at));
  });
  return result;
}

/// Bytes are read at one rate and written at another.
double one_after_the_other(double in, double out) {
  return 1 / (1 / in + 1 / out);
}

TEST(copy, takes_what_its_reads_and_writes_take) {
  const auto expect = [](double measured, double paper) {
    EXPECT_NEAR(measured, paper, 0.03 * paper);
  };
  // [van Tol 2011], MB/s: reads 107 from DRAM, 285 from L2; writes 22 word by word, 125 in lines.
  expect(rate(copy_method::plain), one_after_the_other(107, 22));
  expect(rate(copy_method::mpbt_target), one_after_the_other(107, 125));
  expect(rate(copy_method::mpbt_target, 256 << 10), one_after_the_other(285, 125));
  expect(rate(copy_method::mpbt_both), one_after_the_other(107, 125));
  expect(rate(copy_method::mpbt_both, 256 << 10), one_after_the_other(107, 125));
  expect(rate(copy_method::lut_remap), one_after_the_other(107, 125));
}

TEST(copy, reaches_the_memory_of_another_core) {
  run_cores({}, [&](memory& m) {
    const auto flag = shared_memory(m).at(0).as<word>();
    if (m.self() == core_id{7}) {
      fill(m, lookup_table(m).mapped(source_at));
      m.store(flag, 1);
    } else if (m.self() == core_id{40}) {
      m.wait_until(flag, [](word seen) { return seen == 1; });
      constexpr int entry = 0x50;
      lookup_table(m).set_entry(m.self(), entry, lookup_table(m).private_block(core_id{7}));
      const auto foreign = lookup_table(m).mapped((std::uint32_t{entry} << 24) + source_at);
      copy(m, lookup_table(m).mapped(target_at), foreign, size, copy_method::lut_remap);
      expect_copied(m, lookup_table(m).mapped(target_at));
    }
  });
}

TEST(copy, refuses_what_is_no_memory) {
  run_cores({}, [&](memory& m) {
    if (m.self() == core_id{47}) {
      std::uint16_t two = 0;
      EXPECT_THROW(m.read(&two, lookup_table(m).mapped(0x00FFFFFF), 2), usage_error)
          << "past the end of all";
    }
    if (m.self() != core_id{0}) return;
    std::byte outside{};
    const auto inside = shared_memory(m).at(0);
    EXPECT_THROW(copy(m, inside, mpm_ptr{&outside}, 1, copy_method::plain), usage_error);
    EXPECT_THROW(copy(m, mpm_ptr{&outside}, inside, 1, copy_method::lut_remap), usage_error);
    EXPECT_THROW(copy(m, inside, inside, 1, copy_method::copy_cores), usage_error);
    EXPECT_THROW(copy_service(m, 0, {}), usage_error);
    copy_service service(m, 0, {core_id{1}});
    EXPECT_THROW(service.begin(inside, inside, 1, 1), usage_error) << "there is one server";
    EXPECT_THROW(service.begin(inside, mpm_ptr{&outside}, 1), usage_error);
  });
}

TEST(copy, begins_nothing_that_it_cannot_end) {
  machine_options small;
  small.description.private_bytes = 0;
  run_cores(small, [&](memory& m) {
    if (m.self() != core_id{0}) return;
    const auto last = shared_memory(m).at(shared_memory(m).bytes() - 2048);
    const auto to = m.at(core_id{0}, 0);
    m.store(to.as<word>(), 7);
    EXPECT_THROW(copy(m, to, last, 4096, copy_method::mpbt_both), usage_error);
    m.flush();
    m.invalidate();
    EXPECT_EQ(m.load(to.as<word>()), 7U);
  });
}

TEST(copy_service, copies_while_its_clients_go_on) {
  constexpr int clients = 4;
  run_cores({}, [&](memory& m) {
    const int self = m.self().value;
    if (self >= clients + 2) return;
    copy_service service(m, 1024, {core_id{clients}, core_id{clients + 1}});
    if (self >= clients) return service.serve(clients);
    fill(m, lookup_table(m).mapped(source_at));
    for (int round = 0; round < 3; ++round) {
      const auto to =
          lookup_table(m).mapped(target_at + static_cast<std::uint32_t>(round) * 0x40000);
      const virtual_time begin = m.now();
      service.begin(to, lookup_table(m).mapped(source_at), size,
                    static_cast<std::size_t>(self % 2));
      if (round == 0 && self < 2) {
        EXPECT_LT((m.now() - begin).in_seconds().value, 20e-6) << "a copy takes 1.7 ms";
      }
      EXPECT_THROW(service.begin(to, to, 1), usage_error) << "one is under way";
      service.wait();
      expect_copied(m, to);
    }
    service.leave();
  });
}

}  // namespace
