// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/interrupts.hpp>
#include <creek/scc/lookup_table.hpp>
#include <creek/scc/shared_memory.hpp>

#include "measured_chip.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace creek::tool {

using namespace scc_backend;

namespace {

constexpr int repeats = 64;
constexpr std::size_t walked_bytes = std::size_t{1} << 20;
constexpr int window = 0x40;  // entries of look-up tables that are free at the start
constexpr virtual_time microsecond{1'000'000'000};

core_id other_core(const chip& on, measured_chip::distance far) {
  return core_id{far == measured_chip::distance::nearest ? 0 : on.cores() - 1};
}

/// Returns the time per operation of `repeat` operations, after a warm-up.
template <class Operation>
virtual_time mean_span(memory& m, int repeat, Operation once) {
  once();
  const virtual_time begin = m.now();
  for (int i = 0; i < repeat; ++i) once();
  return {(m.now() - begin).femtoseconds / repeat};
}

/// Returns the time of one operation, the first one.
template <class Operation>
virtual_time span_of(memory& m, Operation once) {
  const virtual_time begin = m.now();
  once();
  return m.now() - begin;
}

double per_second(double amount, virtual_time span) {
  return amount / span.in_seconds().value;
}

/// A linear congruential generator (Numerical Recipes); only its high bits are good.
class places {
 public:
  explicit places(core_id of) noexcept
      : state_{static_cast<std::uint32_t>(of.value) * 2654435761U + 1} {}
  std::uint32_t below(std::size_t bound) noexcept {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<std::uint32_t>((std::uint64_t{state_} * bound) >> 32);
  }

 private:
  std::uint32_t state_;
};

}  // namespace

virtual_time measured_chip::time_on(core_id core, const program& body) const {
  virtual_time span;
  run_cores({.description = chip_}, [&](memory& m) {
    if (m.self() == core) span = body(m);
  });
  return span;
}

double measured_chip::in_core_cycles(virtual_time span) const {
  return static_cast<double>(span.femtoseconds) /
         static_cast<double>(chip_.clocks.core.length.femtoseconds);
}

// --- Single operations --------------------------------------------------------------------------

double measured_chip::cycles_of(operation what, distance far) const {
  const core_id other = other_core(chip_, far);
  return in_core_cycles(time_on(core_id{0}, [&](memory& m) {
    const auto flag = m.at(other, 0).as<word>();
    const auto block = m.at(other, 64);
    std::array<std::byte, 32> line{};
    const auto store_word = [&] { m.store(flag, 1); };
    const auto write_line = [&] { m.write(block, line.data(), line.size()); };
    switch (what) {
      case operation::load:
        return mean_span(m, repeats, [&] { (void)m.load(flag); });
      case operation::store:
        return mean_span(m, repeats, store_word);
      case operation::line_write:
        return mean_span(m, repeats, write_line);
      case operation::test_and_set:
        return mean_span(m, repeats, [&] { (void)m.test_and_set(other); });
      case operation::store_issue:
        return span_of(m, store_word);
      case operation::line_write_issue:
        return span_of(m, write_line);
      case operation::line_read:
        break;
    }
    virtual_time span;
    for (int i = 0; i < repeats; ++i) {
      m.invalidate();
      span += span_of(m, [&] { m.read(line.data(), block, sizeof(word)); });
    }
    return virtual_time{span.femtoseconds / repeats};
  }));
}

double measured_chip::hop_mesh_cycles() const {
  const double far = cycles_of(operation::load, distance::farthest);
  const double near = cycles_of(operation::load, distance::nearest);
  const int hops = chip::hops(chip_.place(core_id{0}), chip_.place(core_id{chip_.cores() - 1}));
  const double ratio = chip_.clocks.mesh.frequency() / chip_.clocks.core.frequency();
  return hops == 0 ? 0 : (far - near) / hops * ratio;
}

double measured_chip::counter_cycles(distance far) const {
  const auto hops = [&](int core) {
    return chip::hops(chip_.place(core_id{core}), chip_.counters_at);
  };
  int chosen = 0;
  for (int i = 1; i < chip_.cores(); ++i) {
    const bool better = far == distance::farthest ? hops(i) > hops(chosen) : hops(i) < hops(chosen);
    if (better) chosen = i;
  }
  return in_core_cycles(time_on(core_id{chosen}, [](memory& m) {
    return mean_span(m, repeats, [&] { (void)m.fetch_increment(counter_id{0}); });
  }));
}

double measured_chip::l1_word_cycles() const {
  return in_core_cycles(time_on(core_id{0}, [](memory& m) {
    word value = 0;
    return mean_span(m, repeats, [&] { m.read(&value, m.at(core_id{0}, 64), sizeof value); });
  }));
}

double measured_chip::invalidate_cycles() const {
  return in_core_cycles(time_on(
      core_id{0}, [](memory& m) { return mean_span(m, repeats, [&] { m.invalidate(); }); }));
}

double measured_chip::flush_cycles(bool by_aliases) const {
  return in_core_cycles(time_on(
      core_id{0}, [=](memory& m) { return mean_span(m, 1, [&] { m.flush_l2(by_aliases); }); }));
}

double measured_chip::interrupt_cycles() const {
  virtual_time raised, entered;
  const core_id raiser{chip_.cores() - 1};
  run_cores({.description = chip_}, [&](memory& m) {
    if (m.self() == core_id{0}) {
      interrupt_pins(m).set_handler([&](int) { entered = m.now(); });
      interrupt_pins(m).halt();
    } else if (m.self() == raiser) {
      m.charge(cycles{10'000});
      raised = m.now();
      interrupt_pins(m).raise(core_id{0});
    }
  });
  const double way = cycles_of(operation::store, distance::farthest) / 2;
  const double issue = cycles_of(operation::store_issue, distance::farthest);
  return in_core_cycles(entered - raised) - issue - way;
}

// --- Throughput of one core ---------------------------------------------------------------------

/// Runs `body` on a core two hops from its controller if there is one; costs are calibrated so.
/// Returns the MB/s of the bytes that it moves in the time it returns.
double measured_chip::megabytes_of_one(std::size_t bytes, const program& body) const {
  const core_id core{std::min(2 * chip_.cores_per_tile, chip_.cores() - 1)};
  return per_second(static_cast<double>(bytes), time_on(core, body)) / 1e6;
}

double measured_chip::private_read_rate(std::size_t working_set) const {
  return megabytes_of_one(walked_bytes, [=](memory& m) {
    return mean_span(m, 1, [&] { m.private_read(walked_bytes, working_set); });
  });
}

double measured_chip::private_write_rate(std::size_t working_set, write_mode mode) const {
  return megabytes_of_one(walked_bytes, [=](memory& m) {
    return mean_span(m, 1, [&] { m.private_write(walked_bytes, working_set, mode); });
  });
}

double measured_chip::uncached_rate(bool write) const {
  return megabytes_of_one(sizeof(word), [=](memory& m) {
    const auto at = shared_memory(m).at(0).as<word>();
    return mean_span(m, 1000, [&] { write ? m.store(at, 1) : (void)m.load(at); });
  });
}

double measured_chip::mpbt_rate(bool write) const {
  return megabytes_of_one(walked_bytes, [=](memory& m) {
    std::array<std::byte, 4096> piece{};
    return span_of(m, [&] {
      for (std::size_t at = 0; at < walked_bytes; at += piece.size()) {
        write ? m.write(shared_memory(m).at(at), piece.data(), piece.size())
              : m.read(piece.data(), shared_memory(m).at(at), piece.size());
      }
    });
  });
}

// --- Many cores ---------------------------------------------------------------------------------

/// Returns the sum per second of what `step(memory, random)` returns on all cores, in a window of
/// time in which all of them are active.
template <class Step>
double measured_chip::steady_rate(int cores, virtual_time begin, virtual_time end,
                                  const Step& step) const {
  double sum = 0;
  run_cores({.description = chip_}, [&](memory& m) {
    if (m.self().value >= cores) return;
    places random(m.self());
    while (m.now() < end) {
      const double amount = step(m, random);
      if (m.now() >= begin && m.now() < end) sum += amount;
    }
  });
  return per_second(sum, end - begin);
}

double measured_chip::mpb_readers(int cores) const {
  return steady_rate(cores, 10 * microsecond, 110 * microsecond, [](memory& m, places&) {
    std::array<std::byte, 32> line;
    m.invalidate();
    m.read(line.data(), m.at(core_id{0}, 64), line.size());
    return 1.0;
  });
}

double measured_chip::counter_users(int cores) const {
  return steady_rate(cores, 10 * microsecond, 310 * microsecond, [](memory& m, places&) {
    (void)m.fetch_increment(counter_id{0});
    return 1.0;
  });
}

double measured_chip::rank_writers(int cores, const std::vector<rank_id>& ranks) const {
  // Blocks of a controller are in its ranks in turn.
  const auto map_all = [&](memory& m) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      lookup_table(m).set_entry(m.self(), window + static_cast<int>(i),
                                {lut_entry::target::dram, ranks[i].controller,
                                 static_cast<std::uint64_t>(ranks[i].rank) * lut_block_bytes});
    }
  };
  std::vector<bool> mapped(static_cast<std::size_t>(chip_.cores()));
  return steady_rate(cores, 20 * microsecond, 520 * microsecond, [&](memory& m, places& random) {
    if (!mapped[m.self().index()]) {
      map_all(m);
      mapped[m.self().index()] = true;
    }
    const std::array<std::byte, 32> line{};
    const std::uint32_t block = window + random.below(ranks.size());
    const std::uint32_t offset = 32 * random.below(lut_block_bytes / 32);
    m.write(lookup_table(m).mapped((block << 24) + offset), line.data(), line.size());
    return 32.0;
  });
}

double measured_chip::private_writers(int cores) const {
  return steady_rate(cores, 20 * microsecond, 120 * microsecond, [](memory& m, places& random) {
    const std::array<std::byte, 32> line{};
    m.write(lookup_table(m).mapped(32 * random.below(lut_block_bytes / 32)), line.data(),
            line.size());
    return 32.0;
  });
}

int measured_chip::saturating_cores(const std::function<double(int)>& throughput) const {
  constexpr double share = 0.97;
  const double enough = share * throughput(chip_.cores());
  for (int cores = 1; cores < chip_.cores(); ++cores) {
    if (throughput(cores) >= enough) return cores;
  }
  return chip_.cores();
}

}  // namespace creek::tool
