// SPDX-License-Identifier: Apache-2.0
// The coherence checker: notified of every access when it takes effect, it knows which accesses are
// ordered by synchronisation and reports those that would need to be and are not, whether or not
// this run's timing did harm. It changes nothing, least of all virtual time.
// Reads and writes of blocks must be ordered by words, test-and-set registers and counters, which
// synchronise and so cannot race themselves. The method is FastTrack's (see causality.hpp); a write
// has two moments here, when its core wrote and when the write-combine buffer was sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <creek/scc/check.hpp>
#include <creek/scc/chip.hpp>

#include "fault_log.hpp"
#include "memory/line_buffers.hpp"
#include "sync_order.hpp"

namespace creek::scc_backend {

class checker {
 public:
  /// Checks `bytes` of memory in all.
  checker(const chip& description, std::size_t bytes, engine& simulation);

  // Accesses of the running core, at the time when they took effect. `at` counts bytes of all
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
  /// Called when the core's program is over: blocks that it still has allocated are lost.
  void ended();

  [[nodiscard]] program_points& points() noexcept { return points_; }
  [[nodiscard]] sync_order& order() noexcept { return order_; }
  [[nodiscard]] allocated_blocks& blocks() noexcept { return blocks_; }
  [[nodiscard]] const fault_log& log() const noexcept { return log_; }

 private:
  /// Writes of a core to the line of its write-combine buffer that are not yet sent.
  struct held_writes {
    std::uint32_t line = write_combine_buffer::none;
    std::vector<access_record> writes;
  };
  struct read_result {
    byte_mask known = 0;   ///< bytes that some core wrote
    byte_mask faulty = 0;  ///< bytes that could not be read properly yet
  };

  void check_fresh(std::uint32_t line, const line_shadow& shadow, const access_record& by,
                   byte_mask stale);
  read_result check_read(std::uint32_t line, line_shadow& shadow, const access_record& by,
                         const write_combine_buffer& held, const std::byte* seen);
  void check_held(std::uint32_t line, const line_shadow& shadow, const access_record& by,
                  const write_combine_buffer& held, const std::byte* seen, read_result& result);
  void check_write(std::uint32_t line, line_shadow& shadow, access_record by);
  void check_allocated(std::uint32_t line, const access_record& by, const char* did);

  address_map map_;
  program_points points_;
  shadow_memory shadow_;
  std::vector<held_writes> held_;  ///< by core
  sync_order order_;
  allocated_blocks blocks_;
  fault_log log_;
};

/// Returns the faults found so far, after calling `tell` with any; none without a checker.
std::vector<fault> found_faults(const checker* check,
                                const std::function<void(const std::vector<fault>&)>& tell);

}  // namespace creek::scc_backend
