// SPDX-License-Identifier: Apache-2.0
// Programs that measure what the primitives of a simulated chip take, as the authors of the papers
// measured them on the silicon: by the clock of a core around many equal operations.
#pragma once

#include <functional>
#include <vector>

#include <creek/scc/spmd.hpp>

namespace creek::tool {

class measured_chip {
 public:
  explicit measured_chip(const scc_backend::chip& what) : chip_{what} {}

  /// How far the other core is: on the same tile, or in the opposite corner of the mesh.
  enum class distance { nearest, farthest };
  enum class operation {
    load,              ///< a word past the caches, r of [Rotta 2012], Table I
    store_issue,       ///< until the core goes on, w
    store,             ///< one after the other, g
    line_read,         ///< not in L1, r
    line_write_issue,  ///< w
    line_write,        ///< g
    test_and_set,      ///< a register that is taken
  };
  /// Core cycles of one.
  [[nodiscard]] double cycles_of(operation what, distance far) const;
  [[nodiscard]] double counter_cycles(distance far) const;
  [[nodiscard]] double hop_mesh_cycles() const;
  [[nodiscard]] double l1_word_cycles() const;
  [[nodiscard]] double invalidate_cycles() const;
  [[nodiscard]] double flush_cycles(bool by_aliases) const;
  /// From the pin to the handler: without the raising core's write and its way.
  [[nodiscard]] double interrupt_cycles() const;

  /// MB/s of one core that walks over 1 MB of private memory with a working set, and over shared
  /// memory.
  [[nodiscard]] double private_read_rate(std::size_t working_set) const;
  [[nodiscard]] double private_write_rate(std::size_t working_set,
                                          scc_backend::write_mode mode) const;
  [[nodiscard]] double uncached_rate(bool write) const;
  [[nodiscard]] double mpbt_rate(bool write) const;

  /// Operations a second of the first `cores` cores together, while all are at it.
  [[nodiscard]] double mpb_readers(int cores) const;
  [[nodiscard]] double counter_users(int cores) const;
  /// Bytes a second of the first `cores` cores that write whole lines at random to all ranks given.
  struct rank_id {
    int controller;
    int rank;
  };
  [[nodiscard]] double rank_writers(int cores, const std::vector<rank_id>& ranks) const;
  /// The same, each to its own private memory.
  [[nodiscard]] double private_writers(int cores) const;

  /// The fewest cores that get 97 % of what all of them get. Where the papers read saturation off
  /// a plot, this is the share at which all of theirs agree with one definition.
  [[nodiscard]] int saturating_cores(const std::function<double(int)>& throughput) const;

  [[nodiscard]] const scc_backend::chip& description() const noexcept { return chip_; }

 private:
  using program = std::function<void(scc_backend::memory&)>;
  void run_on(core_id core, const program& body) const;
  template <class Step>
  double steady_rate(int cores, virtual_time begin, virtual_time end, const Step& step) const;
  [[nodiscard]] double in_core_cycles(virtual_time span) const;
  [[nodiscard]] core_id throughput_core() const;

  scc_backend::chip chip_;
};

}  // namespace creek::tool
