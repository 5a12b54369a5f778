// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/cost_table.hpp>

namespace creek::scc_backend {

const char* to_string(clock_domain domain) noexcept {
  switch (domain) {
    case clock_domain::core:
      return "core";
    case clock_domain::mesh:
      return "mesh";
    default:
      return "memory";
  }
}

std::span<const cost_entry> cost_table() noexcept {
  using enum clock_domain;
  using c = chip_costs;
  static constexpr cost_entry table[] = {
      {"mpb_access", &c::mpb_access, core, "message-passing buffer, there and back", "[R12]"},
      {"hop_round_trip", &c::hop_round_trip, mesh, "a hop, there and back", "[R12]"},
      {"uc_read", &c::uc_read, core, "reading a word past the caches, beyond mpb_access", "[R12]"},
      {"uc_write", &c::uc_write, core, "writing a word, beyond mpb_access", "[R12]"},
      {"uc_write_issue", &c::uc_write_issue, core, "writing a word, until the core goes on",
       "[R12]"},
      {"line_read", &c::line_read, core, "reading an MPBT line, beyond mpb_access", "[R12]"},
      {"line_write", &c::line_write, core, "sending a collected line, beyond mpb_access", "[R12]"},
      {"line_write_issue", &c::line_write_issue, core, "collecting a line of 32 bytes", "[R12]"},
      {"l1_word", &c::l1_word, core, "a word of a line that lies in L1", "[M]"},
      {"invalidate", &c::invalidate, core, "CL1INVMB", "[M]"},
      {"mpb_service", &c::mpb_service, core, "a request occupies a buffer", "[R12]"},
      {"counter", &c::counter, core, "an atomic counter, without hops", "[R12]"},
      {"counter_service", &c::counter_service, core, "a request occupies the counters", "[R12]"},
      {"poll", &c::poll, core, "compare and branch between two looks", "counted"},
      {"dram_access", &c::dram_access, core, "off-chip memory, there and back", "[EAS]"},
      {"dram_latency", &c::dram_latency, memory, "off-chip memory, at its controller", "[EAS]"},
      {"dram_word", &c::dram_word, core, "a word past the caches, beyond dram_access", "[T]"},
      {"dram_word_around", &c::dram_word_around, core, "a cached word that misses L2, written",
       "[T]"},
      {"dram_line_read", &c::dram_line_read, core, "reading a line, beyond dram_access", "[T]"},
      {"dram_line_write", &c::dram_line_write, core, "sending a collected line", "[T]"},
      {"rank_service", &c::rank_service, memory, "a request occupies a rank", "[T]"},
      {"controller_service", &c::controller_service, memory, "a request occupies a controller",
       "[T]"},
      {"l1_line", &c::l1_line, core, "a private line in L1, with the loop over it", "[T]"},
      {"l2_line_read", &c::l2_line_read, core, "reading a private line from L2", "[T]"},
      {"l2_line_write", &c::l2_line_write, core, "writing a private line to L2", "[T]"},
      {"l2_line_combined", &c::l2_line_combined, core, "the same, write-combined", "[T]"},
      {"l2_flush", &c::l2_flush, core, "flushing L2 by reading 256 KB", "[R12]"},
      {"l2_flush_by_aliases", &c::l2_flush_by_aliases, core, "flushing L2 by aliases", "[R12]"},
      {"interrupt_entry", &c::interrupt_entry, core, "from the pin to the handler", "[R12]"},
  };
  static_assert(sizeof table / sizeof table[0] == sizeof(chip_costs) / sizeof(cycles));
  return table;
}

}  // namespace creek::scc_backend
