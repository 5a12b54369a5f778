// SPDX-License-Identifier: Apache-2.0
// Programs that measure the primitives of a simulated chip in the way in which the authors of the
// papers measured the silicon: by the clock of a core around many equal operations.
#pragma once

#include <functional>
#include <vector>

#include <creek/scc/spmd.hpp>

namespace creek::tool {

class measured_chip {
 public:
  explicit measured_chip(const scc_backend::chip& what) : chip_{what} {}

  /// Distance of the other core: on the same tile, or in the opposite corner of the mesh.
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
  /// Returns the core cycles of one operation.
  [[nodiscard]] double cycles_of(operation what, distance far) const;
  [[nodiscard]] double counter_cycles(distance far) const;
  [[nodiscard]] double hop_mesh_cycles() const;
  [[nodiscard]] double l1_word_cycles() const;
  [[nodiscard]] double invalidate_cycles() const;
  [[nodiscard]] double flush_cycles(bool by_aliases) const;
  /// Returns the time from the pin to the handler, without the raising core's write and its way.
  [[nodiscard]] double interrupt_cycles() const;

  /// Returns the MB/s of one core that walks over 1 MB: of private memory with a working set, or of
  /// shared memory.
  [[nodiscard]] double private_read_rate(std::size_t working_set) const;
  [[nodiscard]] double private_write_rate(std::size_t working_set,
                                          scc_backend::write_mode mode) const;
  [[nodiscard]] double uncached_rate(bool write) const;
  [[nodiscard]] double mpbt_rate(bool write) const;

  /// Returns the operations per second of the first `cores` cores together, all busy at once.
  [[nodiscard]] double mpb_readers(int cores) const;
  [[nodiscard]] double counter_users(int cores) const;
  /// Returns bytes per second of the first `cores` cores; each writes whole lines to random ranks.
  struct rank_id {
    int controller;
    int rank;
  };
  [[nodiscard]] double rank_writers(int cores, const std::vector<rank_id>& ranks) const;
  /// Returns the same if each core writes to its own private memory.
  [[nodiscard]] double private_writers(int cores) const;

  /// Returns the fewest cores that reach 97 % of the throughput of all. The papers read saturation
  /// off plots; 97 % is the share at which all of their numbers agree with one definition.
  [[nodiscard]] int saturating_cores(const std::function<double(int)>& throughput) const;

  [[nodiscard]] const scc_backend::chip& description() const noexcept { return chip_; }

 private:
  using program = std::function<virtual_time(scc_backend::memory&)>;

  /// Runs `body` on one core and returns what it returns.
  virtual_time time_on(core_id core, const program& body) const;
  double megabytes_of_one(std::size_t bytes, const program& body) const;
  template <class Step>
  double steady_rate(int cores, virtual_time begin, virtual_time end, const Step& step) const;
  [[nodiscard]] double in_core_cycles(virtual_time span) const;

  scc_backend::chip chip_;
};

}  // namespace creek::tool
