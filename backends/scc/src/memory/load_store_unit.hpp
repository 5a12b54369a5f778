// SPDX-License-Identifier: Apache-2.0
// The accesses of a core to message-passing and shared memory: words past the caches, and lines
// through L1 and the write-combine buffer.
#pragma once

#include <vector>

#include "chip/mesh_network.hpp"
#include "chip/traffic_counters.hpp"
#include "line_watchers.hpp"

namespace creek::scc_backend {

class checker;

/// Every access costs virtual time and takes effect when it is served. A line in L1 stays as it was
/// read until it is invalidated; written bytes reach memory when the buffer is sent.
class load_store_unit {
 public:
  /// `check` is notified of every access; null: nobody is.
  load_store_unit(const chip& on, engine& simulation, const tile_clocks& clocks,
                  time_limits& limits, chip_memory& bytes, mesh_network& network,
                  traffic_counters& traffic, line_watchers& watchers, checker* check)
      : chip_{on},
        simulation_{simulation},
        clocks_{clocks},
        limits_{limits},
        bytes_{bytes},
        mesh_{network},
        traffic_{traffic},
        watchers_{watchers},
        check_{check},
        cores_(static_cast<std::size_t>(on.cores())) {}

  std::uint32_t load_word(std::size_t at, std::size_t size);
  void store_word(std::size_t at, std::uint32_t value, std::size_t size);
  void read(void* to, std::size_t from, std::size_t size) { read_lines(to, from, size, false); }
  /// Like read() of lines that are not in L1, for words that others store.
  void load_row(void* to, std::size_t from, std::size_t size) { read_lines(to, from, size, true); }
  void write(std::size_t to, const void* from, std::size_t size);
  /// Writes the words of each line past the buffer, one by one.
  void write_around(std::size_t to, const void* from, std::size_t size);
  /// Copies bytes whose reading has been charged already; costs nothing itself.
  void copy_out(void* to, std::size_t from, std::size_t size);
  void invalidate();
  void flush();
  /// Sends the write-combine buffer, if it holds a line.
  void send_combined();

 private:
  struct core_buffers {
    l1_cache l1;
    write_combine_buffer combining;
  };
  core_buffers& here() noexcept { return cores_[simulation_.running().index()]; }
  void read_lines(void* to, std::size_t from, std::size_t size, bool of_words);

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  time_limits& limits_;
  chip_memory& bytes_;
  mesh_network& mesh_;
  traffic_counters& traffic_;
  line_watchers& watchers_;
  checker* check_;
  std::vector<core_buffers> cores_;
};

}  // namespace creek::scc_backend
