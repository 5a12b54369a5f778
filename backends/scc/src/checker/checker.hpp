// SPDX-License-Identifier: Apache-2.0
// The coherence checker: notified of every access when it takes effect, it knows which accesses are
// ordered by synchronisation and reports those that would need to be and are not, whether or not
// this run's timing did harm. It changes nothing, least of all virtual time.
// Reads and writes of blocks must be ordered by words, test-and-set registers and counters, which
// synchronise and so cannot race themselves. The method is FastTrack's (see causality.hpp); a write
// has two moments here, when its core wrote and when the write-combine buffer was sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <creek/core/memory.hpp>
#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/scc/check.hpp>
#include <creek/scc/chip.hpp>

#include "call_sites.hpp"
#include "memory/line_buffers.hpp"
#include "shadow.hpp"
#include "simulation/causality.hpp"
#include "simulation/engine.hpp"

namespace creek::scc_backend {

class symbols;

class checker {
 public:
  /// Checks `bytes` of memory in all.
  checker(const chip& description, std::size_t bytes, engine& simulation);

  /// Sets the call site of the running core's next operation; see call_sites::above().
  void called_from(const void* return_address, const void* frame) {
    here().site = sites_.above(return_address, frame);
  }

  // Operations of the running core, at the time when they took effect. `at` counts bytes of all
  // memory, core after core. `held` is the core's write-combine buffer, `memory` the line.
  void loaded(std::size_t at, std::size_t size, const write_combine_buffer& held,
              const std::byte* memory, virtual_time when);
  void stored(std::size_t at, std::size_t size, virtual_time when);
  /// `copy` is the line as read: from L1, or from memory if `fresh`.
  void read(std::uint32_t line, byte_mask bytes, const line_data& copy, bool fresh,
            const write_combine_buffer& held, const std::byte* memory, virtual_time when);
  void wrote(std::uint32_t line, byte_mask bytes, virtual_time when);         ///< into its buffer
  void sent(std::uint32_t line, virtual_time when);                           ///< buffer sent
  void wrote_around(std::uint32_t line, byte_mask bytes, virtual_time when);  ///< past the buffer
  void tried_register(core_id id, bool won);
  void cleared_register(core_id id);
  void incremented(counter_id id);
  void set(counter_id id);
  void raised(core_id to, int pin);  ///< an interrupt was raised
  void took(int pin);
  /// Called when the core's program is over: blocks that it still has allocated are lost.
  void ended();

  /// Returns the observer that is notified of this core's allocations.
  [[nodiscard]] allocation_observer* allocations(core_id core) noexcept {
    return &cores_[core.index()];
  }

  /// Returns the faults that were found, with their places in the program looked up.
  [[nodiscard]] std::vector<fault> faults() const;

 private:
  struct block {
    std::string name;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    access_record made;
    access_record freed;
    bool live = true;
  };
  struct core_state final : allocation_observer {
    void allocated(std::size_t offset, std::size_t bytes, const char* name) noexcept override;
    void released(std::size_t offset, std::size_t bytes) noexcept override;

    checker* home = nullptr;
    core_id self;
    causal_clock clock;
    site_id site = 0;
    std::uint32_t held_line = write_combine_buffer::none;
    std::vector<access_record> held;  ///< its writes to that line, not yet sent
    std::vector<block> blocks;
    block_map block_at;  ///< by offset, see view_of(); also blocks that it has freed
    std::array<std::vector<announcement>, 2> raised;  ///< by pin, not yet taken
  };
  struct register_state {
    announcement taken;
    announcement cleared;
  };
  struct finding {
    fault_kind kind{};
    access_record found;
    access_record other;  ///< without bytes if there is none
    const char* found_did = "";
    const char* other_did = "";
    std::size_t at = 0;
    int bytes = 0;
    std::string allocation;
    std::uint64_t count = 1;
  };
  using finding_key = std::tuple<fault_kind, std::uintptr_t, std::uintptr_t>;

  [[nodiscard]] core_state& here() noexcept { return cores_[simulation_.running().index()]; }
  [[nodiscard]] access_record access(byte_mask bytes, virtual_time when, bool word) noexcept;
  struct read_result {
    byte_mask known = 0;   ///< bytes that some core wrote
    byte_mask faulty = 0;  ///< bytes that could not be read properly yet
  };
  read_result check_read(std::uint32_t line, line_shadow& shadow, const access_record& by,
                         const write_combine_buffer& held, const std::byte* seen);
  static fault_kind kind_of_early_read(const causal_clock& reader, const access_record& write);
  void check_write(std::uint32_t line, line_shadow& shadow, access_record by);
  void check_allocated(std::uint32_t line, const access_record& by, const char* did);
  void note_read(line_shadow& shadow, const access_record& by);
  void found(fault_kind kind, std::uint32_t line, byte_mask bytes, const access_record& by,
             const char* did, const access_record& other, const char* other_did);
  /// Returns an offset into the memory that a core sees: one core's share of message-passing
  /// memory, which allocators take for the same everywhere, followed by off-chip memory.
  [[nodiscard]] std::size_t view_of(std::size_t at) const noexcept {
    return at < mpb_end_ ? at % mpb_bytes_ : at - mpb_end_ + mpb_bytes_;
  }
  [[nodiscard]] std::string allocation_at(std::size_t at, core_id asker) const;
  [[nodiscard]] fault described(const finding& of, symbols& names) const;
  [[nodiscard]] std::vector<std::string> calls_of(site_id site, symbols& names) const;

  engine& simulation_;
  std::size_t mpb_bytes_;
  std::size_t mpb_end_;
  std::vector<core_state> cores_;
  std::vector<register_state> registers_;
  std::vector<announcement> counters_;
  shadow_memory shadow_;
  call_sites sites_;
  std::vector<finding> findings_;
  std::map<finding_key, std::size_t> known_findings_;
};

/// Returns the faults found so far, after calling `tell` with any; none without a checker.
std::vector<fault> found_faults(const checker* check,
                                const std::function<void(const std::vector<fault>&)>& tell);

}  // namespace creek::scc_backend
