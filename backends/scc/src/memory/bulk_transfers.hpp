// SPDX-License-Identifier: Apache-2.0
// Accesses whose cost programs state while the data lies in host memory: walks over private memory,
// and blocks of shared memory.
#pragma once

#include <creek/scc/memory.hpp>
#include <creek/scc/spmd.hpp>

#include "chip/compute_time.hpp"
#include "chip/mesh_network.hpp"

namespace creek::scc_backend {

/// Stated accesses take time and capacity of controllers and ranks as others do, in batches of
/// requests; they change no bytes.
class bulk_transfers {
 public:
  bulk_transfers(const chip& on, engine& simulation, time_limits& limits, compute_time& computing,
                 const off_chip& dram, mesh_network& network)
      : chip_{on},
        simulation_{simulation},
        limits_{limits},
        computing_{computing},
        dram_{dram},
        mesh_{network} {}

  void private_read(std::size_t bytes, std::size_t working_set);
  void private_write(std::size_t bytes, std::size_t working_set, write_mode mode);
  /// Sets how programs move blocks of shared memory that they only state
  /// (creek::charge_shared_read): word by word past the caches, or in lines as MPBT memory.
  void move_blocks_by(block_moves how) noexcept { block_moves_ = how; }
  void move_block(std::uint64_t block, std::size_t bytes, bool written);
  /// Reads and writes `words` words of one place in shared memory.
  void touch_words(std::uint64_t block, std::int64_t words);

 private:
  void stream(const off_chip::block& at, std::int64_t requests, cycles overhead);

  const chip& chip_;
  engine& simulation_;
  time_limits& limits_;
  compute_time& computing_;
  const off_chip& dram_;
  mesh_network& mesh_;
  block_moves block_moves_ = block_moves::uncached;
};

}  // namespace creek::scc_backend
