// SPDX-License-Identifier: Apache-2.0
// Decides which accesses are faults.
#include "checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace creek::scc_backend {

namespace {

const char* writing(const access_record& write) noexcept {
  return write.word ? "stored a word" : "wrote";
}

/// Returns the bytes in which a line differs from another.
byte_mask difference(const std::byte* a, const std::byte* b) noexcept {
  byte_mask differs = 0;
  if (std::memcmp(a, b, line_size) == 0) return differs;
  for (std::size_t i = 0; i < line_size; ++i) {
    if (a[i] != b[i]) differs |= byte_mask{1} << i;
  }
  return differs;
}

std::uint32_t line_of(std::size_t at) noexcept {
  return static_cast<std::uint32_t>(at / line_size);
}

}  // namespace

checker::checker(const chip& description, std::size_t bytes, engine& simulation)
    : simulation_(simulation),
      mpb_bytes_(description.mpb_bytes),
      mpb_end_(static_cast<std::size_t>(description.cores()) * mpb_bytes_),
      cores_(static_cast<std::size_t>(description.cores())),
      registers_(cores_.size()),
      counters_(2 * cores_.size()),
      shadow_(bytes / line_size) {
  std::int32_t number = 0;
  for (core_state& core : cores_) {
    core.home = this;
    core.self = core_id{number};
    core.clock.begin(number++, cores_.size());
  }
}

access_record checker::access(byte_mask bytes, virtual_time when, bool word) noexcept {
  const core_state& self = here();
  const std::uint32_t epoch = self.clock.epoch();
  return {bytes, self.self.value, epoch, epoch, self.site, when, word};
}

// --- Words --------------------------------------------------------------------------------------

void checker::loaded(std::size_t at, std::size_t size, const write_combine_buffer& held,
                     const std::byte* memory, virtual_time when) {
  const std::uint32_t line = line_of(at);
  const access_record by = access(mask_of(at % line_size, size), when, true);
  check_allocated(line, by, "loaded a word");
  line_shadow* shadow = shadow_.find(line);
  if (shadow == nullptr) return;  // zero, as memory is at first
  for (const word_record& word : shadow->words) {
    if ((word.bytes & by.bytes) != 0) here().clock.learn(word.news);
  }
  check_read(line, *shadow, by, held, memory);
}

void checker::stored(std::size_t at, std::size_t size, virtual_time when) {
  const std::uint32_t line = line_of(at);
  const access_record by = access(mask_of(at % line_size, size), when, true);
  check_allocated(line, by, "stored a word");
  line_shadow& shadow = shadow_.line(line);
  check_write(line, shadow, by);
  remove_bytes(shadow.words, by.bytes);
  shadow.words.push_back({by.bytes, here().clock.announce()});
}

// --- Blocks -------------------------------------------------------------------------------------

void checker::read(std::uint32_t line, byte_mask bytes, const line_data& copy, bool fresh,
                   const write_combine_buffer& held, const std::byte* memory, virtual_time when) {
  access_record by = access(bytes, when, false);
  check_allocated(line, by, "read");
  line_shadow& shadow = shadow_.line(line);
  if (!fresh) {
    // Bytes that the core has not sent yet are newer in its L1 than in memory.
    const byte_mask newer = held.line == line ? held.written : 0;
    const byte_mask stale = difference(copy.data(), memory) & bytes & ~newer;
    for (const access_record& write : shadow.writes) {
      if ((write.bytes & stale) != 0 && here().clock.knows(write.core, write.sent)) {
        found(fault_kind::missing_invalidate, line, write.bytes & stale, by, "read its L1 copy",
              write, writing(write));
      }
    }
  }
  const read_result result = check_read(line, shadow, by, held, copy.data());
  if ((bytes & ~result.known) != 0) {
    found(fault_kind::never_written, line, bytes & ~result.known, by, "read", {}, "");
  }
  // A read that came too early is found once, not again when the bytes that it missed arrive.
  by.bytes &= ~result.faulty;
  if (by.bytes != 0) note_read(shadow, by);
}

void checker::wrote(std::uint32_t line, byte_mask bytes, virtual_time when) {
  core_state& self = here();
  if (self.held_line != line) {
    self.held_line = line;
    shadow_.line(line).held_by.push_back(self.self.value);
  }
  remove_bytes(self.held, bytes);
  self.held.push_back(access(bytes, when, false));
}

void checker::sent(std::uint32_t line, virtual_time when) {
  core_state& self = here();
  line_shadow& shadow = shadow_.line(line);
  for (access_record& by : self.held) {
    by.sent = self.clock.epoch();
    by.at = when;
    check_allocated(line, by, "wrote");
    check_write(line, shadow, by);
    remove_bytes(shadow.words, by.bytes);
  }
  self.held.clear();
  self.held_line = write_combine_buffer::none;
  std::erase(shadow.held_by, self.self.value);
}

void checker::wrote_around(std::uint32_t line, byte_mask bytes, virtual_time when) {
  const access_record by = access(bytes, when, false);
  check_allocated(line, by, "wrote");
  line_shadow& shadow = shadow_.line(line);
  check_write(line, shadow, by);
  remove_bytes(shadow.words, by.bytes);
}

/// Returns the fault of a read that is not ordered after the write.
fault_kind checker::kind_of_early_read(const causal_clock& reader, const access_record& write) {
  if (reader.knows(write.core, write.epoch)) return fault_kind::missing_flush;
  // The reader has waited for the write that this one replaced.
  const bool replaced = write.unread != 0 && reader.knows(write.core, write.unread);
  return replaced ? fault_kind::overwritten : fault_kind::unordered_read;
}

/// Reports bytes that `by` reads and that some core wrote but had not announced and sent before.
/// `seen` are the bytes of the line that were read.
checker::read_result checker::check_read(std::uint32_t line, line_shadow& shadow,
                                         const access_record& by, const write_combine_buffer& held,
                                         const std::byte* seen) {
  const causal_clock& clock = here().clock;
  const char* did = by.word ? "loaded a word" : "read";
  read_result result;
  for (const access_record& write : shadow.writes) {
    const byte_mask shared = write.bytes & by.bytes;
    result.known |= shared;
    if (shared == 0 || (by.word && write.word) || clock.knows(write.core, write.sent)) continue;
    result.faulty |= shared;
    found(kind_of_early_read(clock, write), line, shared, by, did, write, writing(write));
  }
  for (const std::int32_t holder : shadow.held_by) {
    const bool own = holder == by.core;
    // A core's own copy in L1 has the core's writes; memory does not have them yet.
    const byte_mask missed =
        own ? held.written & difference(held.data.data(), seen) : ~byte_mask{0};
    for (const access_record& write : cores_[static_cast<std::size_t>(holder)].held) {
      result.known |= write.bytes & by.bytes;
      const byte_mask shared = write.bytes & by.bytes & missed;
      if (shared == 0 || !clock.knows(write.core, write.epoch)) continue;
      result.faulty |= shared;
      found(fault_kind::missing_flush, line, shared, by, did, write, "wrote, but has not sent,");
    }
  }
  return result;
}

/// Reports earlier reads and writes of these bytes that were not known to be over. Then records the
/// bytes as this write's.
void checker::check_write(std::uint32_t line, line_shadow& shadow, access_record by) {
  const causal_clock& clock = here().clock;
  byte_mask was_read = 0;
  for (const access_record& read : shadow.reads) {
    const byte_mask shared = read.bytes & by.bytes;
    was_read |= shared;
    if (shared == 0 || clock.knows(read.core, read.epoch)) continue;
    // A core that reads its L1 may be ahead in time of cores whose writes are simulated later.
    const bool late = read.at > by.at;
    found(late ? fault_kind::unordered_read : fault_kind::overwritten, line, shared, by,
          writing(by), read, "read");
  }
  for (const access_record& write : shadow.writes) {
    const byte_mask shared = write.bytes & by.bytes;
    if (write.core == by.core && (shared & ~was_read) != 0 && write.epoch != by.epoch) {
      by.unread = write.unread != 0 ? write.unread : write.epoch;
    }
    if (shared == 0 || (by.word && write.word) || clock.knows(write.core, write.sent)) continue;
    const bool announced = clock.knows(write.core, write.epoch);
    found(announced ? fault_kind::missing_flush : fault_kind::unordered_writes, line, shared, by,
          writing(by), write, writing(write));
  }
  remove_bytes(shadow.reads, by.bytes);
  remove_bytes(shadow.writes, by.bytes);
  shadow.writes.push_back(by);
}

void checker::note_read(line_shadow& shadow, const access_record& by) {
  access_record joined = by;
  for (access_record& read : shadow.reads) {
    if (read.core != by.core) continue;
    if (read.epoch == by.epoch && read.site == by.site) joined.bytes |= read.bytes;
    read.bytes &= ~joined.bytes;
  }
  remove_bytes(shadow.reads, 0);
  shadow.reads.push_back(joined);
}

// --- Registers and counters ---------------------------------------------------------------------

void checker::tried_register(core_id id, bool won) {
  register_state& of = registers_[id.index()];
  causal_clock& clock = here().clock;
  // A core that finds the register taken learns something, too: that a core has taken it.
  clock.learn(won ? of.cleared : of.taken);
  if (won) of.taken = clock.announce();
}

void checker::cleared_register(core_id id) {
  registers_[id.index()].cleared = here().clock.announce();
}

void checker::incremented(counter_id id) {
  announcement& last = counters_[static_cast<std::size_t>(id.value)];
  here().clock.learn(last);
  last = here().clock.announce();
}

void checker::set(counter_id id) {
  counters_[static_cast<std::size_t>(id.value)] = here().clock.announce();
}

void checker::raised(core_id to, int pin) {
  cores_[to.index()].raised[static_cast<std::size_t>(pin)].push_back(here().clock.announce());
}

void checker::took(int pin) {
  auto& news = here().raised[static_cast<std::size_t>(pin)];
  for (const announcement& one : news) here().clock.learn(one);
  news.clear();
}

// --- Allocation ---------------------------------------------------------------------------------

void checker::core_state::allocated(std::size_t offset, std::size_t bytes,
                                    const char* name) noexcept {
  home->called_from(__builtin_return_address(0), __builtin_frame_address(0));
  const access_record made = home->access(~byte_mask{0}, home->simulation_.now(), false);
  block_at.assign(offset, offset + std::max(bytes, line_size),
                  static_cast<std::int32_t>(blocks.size()));
  blocks.push_back({name, offset, bytes, made, {}, true});
}

/// Frees the core's own part of the block: forgets the writes to it that the core knows of.
void checker::core_state::released(std::size_t offset, std::size_t) noexcept {
  home->called_from(__builtin_return_address(0), __builtin_frame_address(0));
  const std::int32_t number = block_at.at(offset);
  if (number == block_map::none) return;  // allocated before the checker was attached
  block& gone = blocks[static_cast<std::size_t>(number)];
  gone.live = false;
  gone.freed = home->access(~byte_mask{0}, home->simulation_.now(), false);
  if (offset >= home->mpb_bytes_) return;  // off the chip there is one part for all
  const std::size_t mine = self.index() * home->mpb_bytes_;
  for (std::size_t at = offset; at < offset + gone.bytes; at += line_size) {
    line_shadow* shadow = home->shadow_.find(line_of(mine + at));
    if (shadow == nullptr) continue;
    std::erase_if(shadow->writes, [this](const access_record& write) {
      return clock.knows(write.core, write.sent);
    });
  }
}

/// Uses the core's own view of the allocated blocks: all cores allocate and free alike, but not at
/// the same time.
void checker::check_allocated(std::uint32_t line, const access_record& by, const char* did) {
  const core_state& self = here();
  const std::int32_t number = self.block_at.at(view_of(std::size_t{line} * line_size));
  if (number == block_map::none || self.blocks[static_cast<std::size_t>(number)].live) return;
  found(fault_kind::used_after_free, line, by.bytes, by, did,
        self.blocks[static_cast<std::size_t>(number)].freed, "freed it");
}

void checker::ended() {
  const core_state& self = here();
  for (const block& lost : self.blocks) {
    const bool frees = std::any_of(self.blocks.begin(), self.blocks.end(),
                                   [&](const block& b) { return !b.live && b.name == lost.name; });
    if (!lost.live || !frees || lost.name.empty()) continue;
    const std::size_t at = lost.offset < mpb_bytes_ ? self.self.index() * mpb_bytes_ + lost.offset
                                                    : lost.offset - mpb_bytes_ + mpb_end_;
    found(fault_kind::leaked, line_of(at), ~byte_mask{0}, lost.made, "allocated it", {}, "");
  }
}

// --- Findings -----------------------------------------------------------------------------------

void checker::found(fault_kind kind, std::uint32_t line, byte_mask bytes, const access_record& by,
                    const char* did, const access_record& other, const char* other_did) {
  if (simulation_.failure().aborted()) return;  // unwinding leaves protocols in the middle
  const finding_key key{kind, sites_.innermost(by.site), sites_.innermost(other.site)};
  const auto [known, is_new] = known_findings_.try_emplace(key, findings_.size());
  if (!is_new) {
    ++findings_[known->second].count;
    return;
  }
  const std::size_t at =
      std::size_t{line} * line_size + static_cast<std::size_t>(std::countr_zero(bytes));
  findings_.push_back({kind, by, other, did, other_did, at, std::popcount(bytes),
                       allocation_at(at, core_id{by.core}), 1});
}

std::string checker::allocation_at(std::size_t at, core_id asker) const {
  const std::size_t offset = view_of(at);
  const int owner = at < mpb_end_ ? static_cast<int>(at / mpb_bytes_) : asker.value;
  for (const core_id core : {core_id{owner}, asker}) {
    const core_state& view = cores_[core.index()];
    const std::int32_t number = view.block_at.at(offset);
    if (number == block_map::none) continue;
    const block& in = view.blocks[static_cast<std::size_t>(number)];
    return (in.name.empty() ? "block" : in.name) + " + " + std::to_string(offset - in.offset);
  }
  return {};
}

}  // namespace creek::scc_backend
