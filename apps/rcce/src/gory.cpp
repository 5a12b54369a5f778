// SPDX-License-Identifier: Apache-2.0
// RCCE's one-sided interface ("GORY"): MPB memory, put and get, flags, and messages over a buffer
// and flags that the program owns.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "call.hpp"
#include "messages.hpp"

namespace creek::rcce {

namespace {

constexpr std::size_t bits_a_line = 8 * line_bytes;
constexpr std::size_t bits_a_word = 8 * sizeof(word);

std::byte* plain(t_vcharp pointer) {
  return reinterpret_cast<std::byte*>(const_cast<unsigned char*>(pointer));
}

/// Returns whether all bytes are in this UE's MPB.
bool in_mpb(ue& self, t_vcharp pointer, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(plain(pointer));
  const auto begin = reinterpret_cast<std::uintptr_t>(self.mpb());
  return at >= begin && at - begin <= self.mpb_bytes() && bytes <= self.mpb_bytes() - (at - begin);
}
std::size_t offset_of(ue& self, t_vcharp pointer) {
  return static_cast<std::size_t>(plain(pointer) - self.mpb());
}

t_vcharp keep(ue& self, mpm_block block) {
  self.mark_used(block);
  self.blocks.push_back(std::move(block));
  return reinterpret_cast<t_vcharp>(self.mpb() + self.blocks.back().offset());
}
void give_back(ue& self, t_vcharp pointer) {
  if (!in_mpb(self, pointer, 1)) return;
  const std::size_t offset = offset_of(self, pointer);
  std::erase_if(self.blocks, [&](const mpm_block& block) { return block.offset() == offset; });
}

int check_copy(ue& self, t_vcharp in_buffer, int size, int of, int wrong_place) {
  if (!is_ue(self, of)) return RCCE_ERROR_ID;
  if (size <= 0 || static_cast<std::size_t>(size) % line_bytes != 0) {
    return RCCE_ERROR_MESSAGE_LENGTH;
  }
  if (!in_mpb(self, in_buffer, static_cast<std::size_t>(size))) return wrong_place;
  return offset_of(self, in_buffer) % line_bytes == 0 ? RCCE_SUCCESS : RCCE_ERROR_ALIGNMENT;
}

// --- Flags --------------------------------------------------------------------------------------

int check_flag(ue& self, const RCCE_FLAG* given) {
  if (given == nullptr) return RCCE_ERROR_FLAG_UNDEFINED;
  const RCCE_FLAG& flag = *given;
  if (flag.line_address == nullptr) return RCCE_ERROR_FLAG_NOT_ALLOCATED;
  if (!in_mpb(self, flag.line_address, line_bytes)) return RCCE_ERROR_FLAG_NOT_IN_COMM_BUFFER;
  const bool valid = flag.location >= -1 && flag.location < static_cast<int>(bits_a_line);
  return valid ? RCCE_SUCCESS : RCCE_ERROR_FLAG_UNDEFINED;
}
int check_value(RCCE_FLAG_STATUS value) {
  const bool known = value == RCCE_FLAG_SET || value == RCCE_FLAG_UNSET;
  return known ? RCCE_SUCCESS : RCCE_ERROR_FLAG_STATUS_UNDEFINED;
}
/// The word that holds the flag, and the flag's bits in it.
struct flag_place {
  std::size_t offset;
  word mask;
};
flag_place place_of(ue& self, const RCCE_FLAG& flag) {
  const std::size_t line = offset_of(self, flag.line_address);
  if (flag.location < 0) return {line, 1};
  const auto bit = static_cast<std::size_t>(flag.location);
  return {line + bit / bits_a_word * sizeof(word), word{1} << bit % bits_a_word};
}

/// Writes a flag under the lock of the word's UE, since others may change its other bits.
void write_flag(ue& self, const RCCE_FLAG& flag, RCCE_FLAG_STATUS value, int of) {
  const auto [offset, mask] = place_of(self, flag);
  if (flag.location < 0) {
    self.signal(of, offset, value == RCCE_FLAG_SET ? 1 : 0);
    return;
  }
  self.lock(of);
  const word seen = self.load(of, offset);
  self.signal(of, offset, value == RCCE_FLAG_SET ? seen | mask : seen & ~mask);
  self.unlock(of);
}
bool read_flag(ue& self, const RCCE_FLAG& flag, int of) {
  const auto [offset, mask] = place_of(self, flag);
  return (self.load(of, offset) & mask) != 0;
}
void await_flag(ue& self, const RCCE_FLAG& flag, RCCE_FLAG_STATUS value) {
  const auto [offset, mask] = place_of(self, flag);
  self.wait_until(offset, mask, value == RCCE_FLAG_SET);
}

/// Returns a line of zeros for flags. Writes it only if it was used before, since UEs that are
/// ahead may already have set the flag that this UE is about to allocate.
std::optional<mpm_block> allocate_flag_line(ue& self, const char* name) {
  auto line = self.allocator.allocate(line_bytes, name);
  if (!line || !self.is_used(line->offset())) return line;
  for (std::size_t at = 0; at < line_bytes; at += sizeof(word)) {
    self.signal(self.rank, line->offset() + at, 0);
  }
  return line;
}

int allocate_line_flag(ue& self, RCCE_FLAG& flag) {
  auto line = allocate_flag_line(self, "RCCE_FLAG");
  if (!line) return RCCE_ERROR_MALLOC;
  flag = {-1, keep(self, std::move(*line))};
  return RCCE_SUCCESS;
}

int allocate_bit_flag(ue& self, RCCE_FLAG& flag) {
  for (auto& line : self.flag_lines) {
    const auto unused = std::find(line.used.begin(), line.used.end(), false);
    if (unused == line.used.end()) continue;
    *unused = true;
    flag = {static_cast<int>(unused - line.used.begin()),
            reinterpret_cast<t_vcharp>(self.mpb() + line.offset)};
    const auto bit = static_cast<std::size_t>(flag.location);
    if (line.set_before[bit]) write_flag(self, flag, RCCE_FLAG_UNSET, self.rank);
    line.set_before[bit] = true;
    return RCCE_SUCCESS;
  }
  auto fresh = allocate_flag_line(self, "flags of one bit each");
  if (!fresh) return RCCE_ERROR_MALLOC;
  const std::size_t offset = fresh->offset();
  keep(self, std::move(*fresh));
  const std::vector<bool> none(bits_a_line, false);
  self.flag_lines.push_back({offset, none, none});
  return allocate_bit_flag(self, flag);
}

void free_bit_flag(ue& self, const RCCE_FLAG& flag) {
  const std::size_t offset = offset_of(self, flag.line_address);
  for (auto& line : self.flag_lines) {
    if (line.offset == offset) line.used[static_cast<std::size_t>(flag.location)] = false;
  }
}

// --- Messages -----------------------------------------------------------------------------------

int check_message(ue& self, t_vcharp buffer, std::size_t chunk, const RCCE_FLAG* ready,
                  const RCCE_FLAG* sent, int peer) {
  if (!is_ue(self, peer)) return RCCE_ERROR_ID;
  if (chunk == 0 || chunk % line_bytes != 0) return RCCE_ERROR_MESSAGE_LENGTH;
  if (!in_mpb(self, buffer, chunk)) return RCCE_ERROR_TARGET;
  const int error = check_flag(self, ready);
  return error != RCCE_SUCCESS ? error : check_flag(self, sent);
}

/// Sends chunk by chunk, as RCCE does [Mattson 2010]: docs/scc/machine.md.
void send_chunks(ue& self, const char* data, t_vcharp buffer, std::size_t chunk,
                 const RCCE_FLAG& ready, const RCCE_FLAG& sent, std::size_t size, int to) {
  for (std::size_t done = 0; done < size; done += chunk) {
    self.put(self.rank, offset_of(self, buffer), data + done, std::min(chunk, size - done));
    write_flag(self, sent, RCCE_FLAG_SET, to);
    await_flag(self, ready, RCCE_FLAG_SET);
    write_flag(self, ready, RCCE_FLAG_UNSET, self.rank);
  }
}
void receive_chunks(ue& self, char* data, t_vcharp buffer, std::size_t chunk,
                    const RCCE_FLAG& ready, const RCCE_FLAG& sent, std::size_t size, int from) {
  for (std::size_t done = 0; done < size; done += chunk) {
    await_flag(self, sent, RCCE_FLAG_SET);
    write_flag(self, sent, RCCE_FLAG_UNSET, self.rank);
    self.get(data + done, from, offset_of(self, buffer), std::min(chunk, size - done));
    write_flag(self, ready, RCCE_FLAG_SET, from);
  }
}

}  // namespace

}  // namespace creek::rcce

using namespace creek::rcce;

extern "C" {

t_vcharp RCCE_malloc(size_t size) {
  return call("RCCE_malloc", {"bytes", static_cast<int>(size)}, [&](ue& self) -> t_vcharp {
    if (size == 0 || size % line_bytes != 0) {
      report_error(self, RCCE_DEBUG_SYNCH, RCCE_ERROR_MESSAGE_LENGTH);
      return nullptr;
    }
    auto block = self.allocator.allocate(size, "RCCE_malloc");
    if (block) return keep(self, std::move(*block));
    report_error(self, RCCE_DEBUG_SYNCH, RCCE_ERROR_MALLOC);
    return nullptr;
  });
}

t_vcharp RCCE_malloc_request(size_t size, size_t* chunk) {
  return call("RCCE_malloc_request", {}, [&](ue& self) -> t_vcharp {
    const std::size_t wanted = size / line_bytes + (size % line_bytes != 0 ? 1 : 0);
    std::size_t lines = std::min(wanted, self.allocator.free_bytes() / line_bytes);
    for (; lines > 0; --lines) {
      if (auto block = self.allocator.allocate(lines * line_bytes, "RCCE_malloc")) {
        *chunk = lines * line_bytes;
        return keep(self, std::move(*block));
      }
    }
    *chunk = 0;
    report_error(self, RCCE_DEBUG_SYNCH, RCCE_ERROR_MALLOC);
    return nullptr;
  });
}

void RCCE_free(t_vcharp pointer) {
  call("RCCE_free", {}, [&](ue& self) { give_back(self, pointer); });
}

int RCCE_put(t_vcharp target, t_vcharp source, int size, int of) {
  return call_checked("RCCE_put", RCCE_DEBUG_COMM, {"to UE", of}, [&](ue& self) -> int {
    const int error = check_copy(self, target, size, of, RCCE_ERROR_TARGET);
    if (error != RCCE_SUCCESS) return error;
    const auto bytes = static_cast<std::size_t>(size);
    if (!in_mpb(self, source, 1)) {
      self.put(of, offset_of(self, target), plain(source), bytes);
      return RCCE_SUCCESS;
    }
    if (!in_mpb(self, source, bytes)) return RCCE_ERROR_SOURCE;
    std::vector<std::byte> between(bytes);
    self.get(between.data(), self.rank, offset_of(self, source), bytes);
    self.put(of, offset_of(self, target), between.data(), bytes);
    return RCCE_SUCCESS;
  });
}

int RCCE_get(t_vcharp target, t_vcharp source, int size, int of) {
  return call_checked("RCCE_get", RCCE_DEBUG_COMM, {"from UE", of}, [&](ue& self) -> int {
    const int error = check_copy(self, source, size, of, RCCE_ERROR_SOURCE);
    if (error != RCCE_SUCCESS) return error;
    const auto bytes = static_cast<std::size_t>(size);
    if (!in_mpb(self, target, 1)) {
      self.get(plain(target), of, offset_of(self, source), bytes);
      return RCCE_SUCCESS;
    }
    if (!in_mpb(self, target, bytes)) return RCCE_ERROR_TARGET;
    std::vector<std::byte> between(bytes);
    self.get(between.data(), of, offset_of(self, source), bytes);
    self.put(self.rank, offset_of(self, target), between.data(), bytes);
    return RCCE_SUCCESS;
  });
}

int RCCE_flag_alloc(RCCE_FLAG* flag) {
  return call_checked("RCCE_flag_alloc", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    if (flag == nullptr) return RCCE_ERROR_FLAG_UNDEFINED;
    return self.style.single_bit_flags ? allocate_bit_flag(self, *flag)
                                       : allocate_line_flag(self, *flag);
  });
}

int RCCE_flag_free(RCCE_FLAG* flag) {
  return call_checked("RCCE_flag_free", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    const int error = check_flag(self, flag);
    if (error != RCCE_SUCCESS) return error;
    if (flag->location < 0) {
      give_back(self, flag->line_address);
    } else {
      free_bit_flag(self, *flag);
    }
    *flag = {0, nullptr};
    return RCCE_SUCCESS;
  });
}

int RCCE_flag_write(RCCE_FLAG* flag, RCCE_FLAG_STATUS value, int of) {
  return call_checked("RCCE_flag_write", RCCE_DEBUG_SYNCH, {"of UE", of}, [&](ue& self) {
    if (!is_ue(self, of)) return RCCE_ERROR_ID;
    int error = check_flag(self, flag);
    if (error == RCCE_SUCCESS) error = check_value(value);
    if (error == RCCE_SUCCESS) write_flag(self, *flag, value, of);
    return error;
  });
}

int RCCE_flag_read(RCCE_FLAG flag, RCCE_FLAG_STATUS* value, int of) {
  return call_checked("RCCE_flag_read", RCCE_DEBUG_SYNCH, {"of UE", of}, [&](ue& self) {
    if (!is_ue(self, of)) return RCCE_ERROR_ID;
    if (value == nullptr) return RCCE_ERROR_VAL_UNDEFINED;
    const int error = check_flag(self, &flag);
    if (error == RCCE_SUCCESS) {
      *value = read_flag(self, flag, of) ? RCCE_FLAG_SET : RCCE_FLAG_UNSET;
    }
    return error;
  });
}

int RCCE_wait_until(RCCE_FLAG flag, RCCE_FLAG_STATUS value) {
  const bool one_bit = flag.location >= 0;
  return call_checked("RCCE_wait_until", RCCE_DEBUG_SYNCH, {"flag", 0}, [&](ue& self) {
    int error = check_flag(self, &flag);
    if (error == RCCE_SUCCESS) error = check_value(value);
    if (error != RCCE_SUCCESS) return error;
    const auto line = static_cast<int>(offset_of(self, flag.line_address));
    self.activity = {"RCCE_wait_until",
                     one_bit ? "one-bit flag in the line at MPB offset" : "flag at MPB offset",
                     line};
    await_flag(self, flag, value);
    return RCCE_SUCCESS;
  });
}

int RCCE_send_gory(char* data, t_vcharp buffer, size_t chunk, RCCE_FLAG* ready, RCCE_FLAG* sent,
                   size_t size, int to) {
  return call_checked("RCCE_send", RCCE_DEBUG_COMM, {"to UE", to}, [&](ue& self) {
    const int error = check_message(self, buffer, chunk, ready, sent, to);
    if (error == RCCE_SUCCESS) send_chunks(self, data, buffer, chunk, *ready, *sent, size, to);
    return error;
  });
}

int RCCE_recv_gory(char* data, t_vcharp buffer, size_t chunk, RCCE_FLAG* ready, RCCE_FLAG* sent,
                   size_t size, int from) {
  return call_checked("RCCE_recv", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    const int error = check_message(self, buffer, chunk, ready, sent, from);
    if (error == RCCE_SUCCESS) {
      receive_chunks(self, data, buffer, chunk, *ready, *sent, size, from);
    }
    return error;
  });
}

int RCCE_recv_test_gory(char* data, t_vcharp buffer, size_t chunk, RCCE_FLAG* ready,
                        RCCE_FLAG* sent, size_t size, int from, int* test) {
  return call_checked("RCCE_recv_test", RCCE_DEBUG_COMM, {"from UE", from}, [&](ue& self) {
    const int error = check_message(self, buffer, chunk, ready, sent, from);
    if (error != RCCE_SUCCESS) return error;
    if (test == nullptr) return RCCE_ERROR_VAL_UNDEFINED;
    *test = size == 0 || read_flag(self, *sent, self.rank) ? 1 : 0;
    if (*test != 0) receive_chunks(self, data, buffer, chunk, *ready, *sent, size, from);
    return RCCE_SUCCESS;
  });
}

}  // extern "C"
