// SPDX-License-Identifier: Apache-2.0
// A memory policy without coherence, as hostile as the rules of core/memory.hpp allow: copies of
// lines stay stale until invalidate(), a partly written line is invisible to other cores until
// flush() or a write to another line, and the only atomic operations are test-and-set and the
// counters.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <map>
#include <vector>

#include <creek/core/memory.hpp>

#include "explorer.hpp"

namespace creek::model {

inline constexpr std::size_t stale_line_bytes = 32;

/// Memory that all cores share, and the contents of each core's cache and write-combine buffer.
struct stale_chip {
  stale_chip(explorer& scheduler, int cores, std::size_t bytes)
      : explore{scheduler},
        mpm_bytes{bytes},
        memory(static_cast<std::size_t>(cores) * bytes),
        registers(static_cast<std::size_t>(cores)),
        counters(static_cast<std::size_t>(cores) * 2),
        sides(static_cast<std::size_t>(cores)) {}

  using line = std::array<std::byte, stale_line_bytes>;
  struct side {
    std::map<std::size_t, line> copies;  // by line number
    std::size_t combining = 0;           // line number held in the write-combine buffer
    line combined{};
    std::bitset<stale_line_bytes> written;  // bytes of it that are written; none: empty
    std::uint64_t changes = 0;              // made by this core
    std::uint64_t paused = 0;               // made by others up to its last pause
  };

  explorer& explore;
  std::size_t mpm_bytes;
  std::vector<std::byte> memory;
  std::vector<bool> registers;
  std::vector<word> counters;
  std::vector<side> sides;
  std::uint64_t changes = 0;
};

/// View of one core. Without `Flushes` or `Invalidates` it plants a fault in all protocols at once.
template <bool Flushes = true, bool Invalidates = true>
class basic_stale_memory {
 public:
  static constexpr std::size_t line_bytes = stale_line_bytes;
  static constexpr bool shares_addresses = false;

  basic_stale_memory(stale_chip& chip, core_id self) noexcept : chip_{&chip}, self_{self} {}

  [[nodiscard]] core_id self() const noexcept { return self_; }
  [[nodiscard]] int cores() const noexcept { return static_cast<int>(chip_->sides.size()); }
  [[nodiscard]] std::size_t mpm_bytes() const noexcept { return chip_->mpm_bytes; }
  [[nodiscard]] mpm_ptr<std::byte> at(core_id core, std::size_t offset) const noexcept {
    return mpm_ptr{chip_->memory.data() + core.index() * chip_->mpm_bytes + offset};
  }

  template <class T>
  [[nodiscard]] std::remove_const_t<T> load(mpm_ptr<T> p) {
    access();
    // A line that is cached answers word loads too ("CL1INVMB before UC access").
    const std::size_t offset = offset_of(p.template as<const std::byte>());
    const auto copy = side().copies.find(offset / line_bytes);
    if (copy == side().copies.end()) return raw(p);
    std::remove_const_t<T> value;
    std::memcpy(&value, copy->second.data() + offset % line_bytes, sizeof value);
    return value;
  }
  template <class T>
  void load_row(T* to, mpm_ptr<T> from, std::size_t count) {
    invalidate();
    read(to, from.template as<const std::byte>(), count * sizeof(T));
  }
  template <class T>
  void store(mpm_ptr<T> p, std::type_identity_t<T> value) {
    access();
    std::memcpy(p.address(), &value, sizeof value);
    changed();
  }
  template <class T>
  void signal(mpm_ptr<T> p, std::type_identity_t<T> value) {
    store(p, value);
  }

  void read(void* to, mpm_ptr<const std::byte> from, std::size_t bytes) {
    auto* target = static_cast<std::byte*>(to);
    for (std::size_t offset = offset_of(from), end = offset + bytes; offset != end;) {
      access();
      const std::size_t number = offset / line_bytes;
      const std::size_t length = std::min(end, (number + 1) * line_bytes) - offset;
      auto [copy, fresh] = side().copies.try_emplace(number);
      if (fresh) std::memcpy(copy->second.data(), &chip_->memory[number * line_bytes], line_bytes);
      std::memcpy(target, copy->second.data() + offset % line_bytes, length);
      target += length;
      offset += length;
    }
  }
  void write(mpm_ptr<std::byte> to, const void* from, std::size_t bytes) {
    const auto* source = static_cast<const std::byte*>(from);
    for (std::size_t offset = offset_of(to), end = offset + bytes; offset != end; ++offset) {
      const std::size_t number = offset / line_bytes;
      if (offset % line_bytes == 0 || source == from) access();
      if (number != side().combining) drain();
      side().combining = number;
      side().combined[offset % line_bytes] = *source++;
      side().written.set(offset % line_bytes);
      if (side().written.all()) drain();
    }
  }
  void invalidate() {
    if constexpr (Invalidates) side().copies.clear();
  }
  void flush() {
    if constexpr (Flushes) {
      access();
      drain();
    }
  }

  [[nodiscard]] bool test_and_set(core_id core) {
    access();
    const bool free = !chip_->registers[core.index()];
    chip_->registers[core.index()] = true;
    if (free) changed();
    return free;
  }
  void clear(core_id core) {
    access();
    chip_->registers[core.index()] = false;
    changed();
  }
  [[nodiscard]] int counters() const noexcept { return static_cast<int>(chip_->counters.size()); }
  [[nodiscard]] word fetch_increment(counter_id id) {
    access();
    changed();
    return chip_->counters[static_cast<std::size_t>(id.value)]++;
  }
  void set_counter(counter_id id, word value) {
    access();
    chip_->counters[static_cast<std::size_t>(id.value)] = value;
    changed();
  }

  template <class T, class Predicate>
  T wait_until(mpm_ptr<T> p, Predicate satisfied) {
    access();
    chip_->explore.block([=] { return satisfied(raw(p)); });
    invalidate();
    return raw(p);
  }
  template <class Poll>
  void wait_poll(Poll poll) {
    for (;;) {
      const std::uint64_t before = changes_of_others();
      if (poll()) return;
      chip_->explore.block([=, this] { return changes_of_others() != before; });
    }
  }
  void pause(cycles) {
    // Loops may read several words in between: any change since the last pause wakes them.
    chip_->explore.block([this] { return changes_of_others() != side().paused; });
    side().paused = changes_of_others();
  }
  void charge(work, std::int64_t) {}

 private:
  stale_chip::side& side() const { return chip_->sides[self_.index()]; }
  std::uint64_t changes_of_others() const { return chip_->changes - side().changes; }

  void access() {
    chip_->explore.step();
    // In random runs a held line may also leave at any time.
    if (chip_->explore.chance(1.0 / 64)) drain();
  }
  void changed() {
    ++chip_->changes;
    ++side().changes;
  }
  void drain() {
    stale_chip::side& mine = side();
    for (std::size_t i = 0; i < line_bytes; ++i) {
      if (mine.written[i]) chip_->memory[mine.combining * line_bytes + i] = mine.combined[i];
    }
    if (mine.written.any()) changed();
    mine.written.reset();
  }
  template <class T>
  static std::remove_const_t<T> raw(mpm_ptr<T> p) {
    std::remove_const_t<T> value;
    std::memcpy(&value, p.address(), sizeof value);
    return value;
  }
  std::size_t offset_of(mpm_ptr<const std::byte> p) const {
    return static_cast<std::size_t>(p.address() - chip_->memory.data());
  }

  stale_chip* chip_;
  core_id self_;
};

using stale_memory = basic_stale_memory<>;
using memory_that_never_flushes = basic_stale_memory<false, true>;
using memory_that_never_invalidates = basic_stale_memory<true, false>;

static_assert(memory_policy<stale_memory> && !swapping_memory<stale_memory>);

/// Explores `body(memory)` on each of `cores` cores of a fresh chip; `prepare(memory)` runs first
/// on core 0 alone, `check(memory)` last.
template <class Memory = stale_memory>
outcome explore_on(
    int cores, exploration how, const std::function<void(Memory&)>& body,
    const std::function<void()>& prepare = [] {}, const std::function<void()>& check = [] {},
    std::size_t mpm_bytes = 1024) {
  explorer scheduler{how};
  std::optional<stale_chip> chip;
  return scheduler.explore(
      [&] {
        chip.emplace(scheduler, cores, mpm_bytes);
        prepare();
        explorer::bodies all;
        for (int core = 0; core < cores; ++core) {
          all.push_back([&chip, &body, core] {
            Memory memory{*chip, core_id{core}};
            body(memory);
          });
        }
        return all;
      },
      check);
}

}  // namespace creek::model
