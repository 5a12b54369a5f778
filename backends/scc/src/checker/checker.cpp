// SPDX-License-Identifier: Apache-2.0
// Decides which accesses are faults.
#include "checker.hpp"

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

/// Returns the fault of a read that is not ordered after the write.
fault_kind kind_of_early_read(const causal_clock& reader, const access_record& write) {
  if (reader.knows(write.core, write.epoch)) return fault_kind::missing_flush;
  // The reader has waited for the write that this one replaced.
  const bool replaced = write.unread != 0 && reader.knows(write.core, write.unread);
  return replaced ? fault_kind::overwritten : fault_kind::unordered_read;
}

/// Joins the read with those that its core made from the same place.
void note_read(line_shadow& shadow, const access_record& by) {
  access_record joined = by;
  for (access_record& read : shadow.reads) {
    if (read.core != by.core) continue;
    if (read.epoch == by.epoch && read.site == by.site) joined.bytes |= read.bytes;
    read.bytes &= ~joined.bytes;
  }
  remove_bytes(shadow.reads, 0);
  shadow.reads.push_back(joined);
}

}  // namespace

checker::checker(const chip& description, std::size_t bytes, engine& simulation)
    : map_(description),
      points_(description.cores(), simulation),
      shadow_(bytes / line_size),
      held_(static_cast<std::size_t>(description.cores())),
      order_(description.cores(), points_),
      blocks_(map_, description.cores(), points_, shadow_),
      log_(map_, points_, blocks_) {}

// --- Words --------------------------------------------------------------------------------------

void checker::loaded(std::size_t at, std::size_t size, const write_combine_buffer& held,
                     const std::byte* memory, virtual_time when) {
  const std::uint32_t line = line_of(at);
  const access_record by = points_.access(mask_of(at % line_size, size), when, true);
  check_allocated(line, by, "loaded a word");
  line_shadow* shadow = shadow_.find(line);
  if (shadow == nullptr) return;  // zero, as memory is at first
  for (const word_record& word : shadow->words) {
    if ((word.bytes & by.bytes) != 0) points_.clock().learn(word.news);
  }
  check_read(line, *shadow, by, held, memory);
}

void checker::stored(std::size_t at, std::size_t size, virtual_time when) {
  const std::uint32_t line = line_of(at);
  const access_record by = points_.access(mask_of(at % line_size, size), when, true);
  check_allocated(line, by, "stored a word");
  line_shadow& shadow = shadow_.line(line);
  check_write(line, shadow, by);
  remove_bytes(shadow.words, by.bytes);
  shadow.words.push_back({by.bytes, points_.clock().announce()});
}

// --- Blocks -------------------------------------------------------------------------------------

void checker::read(std::uint32_t line, byte_mask bytes, const line_data& copy, bool fresh,
                   const write_combine_buffer& held, const std::byte* memory, virtual_time when) {
  access_record by = points_.access(bytes, when, false);
  check_allocated(line, by, "read");
  line_shadow& shadow = shadow_.line(line);
  if (!fresh) {
    // Bytes that the core has not sent yet are newer in its L1 than in memory.
    const byte_mask newer = held.line == line ? held.written : 0;
    check_fresh(line, shadow, by, difference(copy.data(), memory) & bytes & ~newer);
  }
  const read_result result = check_read(line, shadow, by, held, copy.data());
  if ((bytes & ~result.known) != 0) {
    log_.add(fault_kind::never_written, line, bytes & ~result.known, {by, "read"});
  }
  // A read that came too early is found once, not again when the bytes that it missed arrive.
  by.bytes &= ~result.faulty;
  if (by.bytes != 0) note_read(shadow, by);
}

void checker::wrote(std::uint32_t line, byte_mask bytes, virtual_time when) {
  held_writes& held = held_[points_.running().index()];
  if (held.line != line) {
    held.line = line;
    shadow_.line(line).held_by.push_back(points_.running().value);
  }
  remove_bytes(held.writes, bytes);
  held.writes.push_back(points_.access(bytes, when, false));
}

void checker::sent(std::uint32_t line, virtual_time when) {
  held_writes& held = held_[points_.running().index()];
  line_shadow& shadow = shadow_.line(line);
  for (access_record& by : held.writes) {
    by.sent = points_.clock().epoch();
    by.at = when;
    check_allocated(line, by, "wrote");
    check_write(line, shadow, by);
    remove_bytes(shadow.words, by.bytes);
  }
  held.writes.clear();
  held.line = write_combine_buffer::none;
  std::erase(shadow.held_by, points_.running().value);
}

void checker::wrote_around(std::uint32_t line, byte_mask bytes, virtual_time when) {
  const access_record by = points_.access(bytes, when, false);
  check_allocated(line, by, "wrote");
  line_shadow& shadow = shadow_.line(line);
  check_write(line, shadow, by);
  remove_bytes(shadow.words, by.bytes);
}

// --- Decisions ----------------------------------------------------------------------------------

/// Reports bytes of an L1 copy that differ from memory although the core knows of the writes.
void checker::check_fresh(std::uint32_t line, const line_shadow& shadow, const access_record& by,
                          byte_mask stale) {
  for (const access_record& write : shadow.writes) {
    if ((write.bytes & stale) == 0 || !points_.clock().knows(write.core, write.sent)) continue;
    log_.add(fault_kind::missing_invalidate, line, write.bytes & stale, {by, "read its L1 copy"},
             {write, writing(write)});
  }
}

/// Reports bytes that `by` reads and that some core wrote but had not announced and sent before.
/// `seen` are the bytes of the line that were read.
checker::read_result checker::check_read(std::uint32_t line, line_shadow& shadow,
                                         const access_record& by, const write_combine_buffer& held,
                                         const std::byte* seen) {
  const causal_clock& clock = points_.clock();
  const char* did = by.word ? "loaded a word" : "read";
  read_result result;
  for (const access_record& write : shadow.writes) {
    const byte_mask shared = write.bytes & by.bytes;
    result.known |= shared;
    if (shared == 0 || (by.word && write.word) || clock.knows(write.core, write.sent)) continue;
    result.faulty |= shared;
    log_.add(kind_of_early_read(clock, write), line, shared, {by, did}, {write, writing(write)});
  }
  check_held(line, shadow, by, held, seen, result);
  return result;
}

/// The part of check_read() for writes that lie in write-combine buffers.
void checker::check_held(std::uint32_t line, const line_shadow& shadow, const access_record& by,
                         const write_combine_buffer& held, const std::byte* seen,
                         read_result& result) {
  const char* did = by.word ? "loaded a word" : "read";
  for (const std::int32_t holder : shadow.held_by) {
    const bool own = holder == by.core;
    // A core's own copy in L1 has the core's writes; memory does not have them yet.
    const byte_mask missed =
        own ? held.written & difference(held.data.data(), seen) : ~byte_mask{0};
    for (const access_record& write : held_[static_cast<std::size_t>(holder)].writes) {
      result.known |= write.bytes & by.bytes;
      const byte_mask shared = write.bytes & by.bytes & missed;
      if (shared == 0 || !points_.clock().knows(write.core, write.epoch)) continue;
      result.faulty |= shared;
      log_.add(fault_kind::missing_flush, line, shared, {by, did},
               {write, "wrote, but has not sent,"});
    }
  }
}

/// Reports earlier reads and writes of these bytes that were not known to be over. Then records the
/// bytes as this write's.
void checker::check_write(std::uint32_t line, line_shadow& shadow, access_record by) {
  const causal_clock& clock = points_.clock();
  byte_mask was_read = 0;
  for (const access_record& read : shadow.reads) {
    const byte_mask shared = read.bytes & by.bytes;
    was_read |= shared;
    if (shared == 0 || clock.knows(read.core, read.epoch)) continue;
    // A core that reads its L1 may be ahead in time of cores whose writes are simulated later.
    const bool late = read.at > by.at;
    log_.add(late ? fault_kind::unordered_read : fault_kind::overwritten, line, shared,
             {by, writing(by)}, {read, "read"});
  }
  for (const access_record& write : shadow.writes) {
    const byte_mask shared = write.bytes & by.bytes;
    if (write.core == by.core && (shared & ~was_read) != 0 && write.epoch != by.epoch) {
      by.unread = write.unread != 0 ? write.unread : write.epoch;
    }
    if (shared == 0 || (by.word && write.word) || clock.knows(write.core, write.sent)) continue;
    const bool announced = clock.knows(write.core, write.epoch);
    log_.add(announced ? fault_kind::missing_flush : fault_kind::unordered_writes, line, shared,
             {by, writing(by)}, {write, writing(write)});
  }
  remove_bytes(shadow.reads, by.bytes);
  remove_bytes(shadow.writes, by.bytes);
  shadow.writes.push_back(by);
}

/// Reports an access to a block that the core had freed.
void checker::check_allocated(std::uint32_t line, const access_record& by, const char* did) {
  const allocated_block* in = blocks_.find(core_id{by.core}, std::size_t{line} * line_size);
  if (in == nullptr || in->live) return;
  log_.add(fault_kind::used_after_free, line, by.bytes, {by, did}, {in->freed, "freed it"});
}

void checker::ended() {
  const core_id self = points_.running();
  for (const allocated_block* lost : blocks_.lost(self)) {
    log_.add(fault_kind::leaked, line_of(map_.from_view(self, lost->offset)), ~byte_mask{0},
             {lost->made, "allocated it"});
  }
}

std::vector<fault> found_faults(const checker* check,
                                const std::function<void(const std::vector<fault>&)>& tell) {
  if (check == nullptr) return {};
  std::vector<fault> found = check->log().faults();
  if (!found.empty() && tell) tell(found);
  return found;
}

}  // namespace creek::scc_backend
