// SPDX-License-Identifier: Apache-2.0
// The chip while it runs: its memory, what serves requests to it one after the other, and what each
// core holds back. How long an operation takes, and when others see it, is decided here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/core/memory.hpp>
#include <creek/scc/chip.hpp>

#include "dvfs.hpp"
#include "energy_meter.hpp"
#include "engine.hpp"
#include "line_buffers.hpp"

namespace creek::scc_backend {

class machine {
 public:
  machine(const chip& description, std::size_t stack_bytes);

  /// engine::run(), with creek::charge() on this thread going to the core that runs.
  void run(const std::function<void(core_id)>& body);

  engine& simulation() noexcept { return engine_; }
  const chip& description() const noexcept { return chip_; }
  std::byte* mpb(core_id core) noexcept { return mpb_.get() + core.index() * chip_.mpb_bytes; }

  /// The clock of the core's tile, now.
  clock_period clock(core_id core) const noexcept { return local_[core.index()].clock; }

  /// Throws usage_error unless `self` is the core that runs.
  void require_running(core_id self) const;

  // The operations of scc_backend::memory, for the running core. Offsets are bytes into all MPBs
  // together, core after core.
  std::uint32_t load_word(std::size_t at, std::size_t size);
  void store_word(std::size_t at, std::uint32_t value, std::size_t size);
  void read(void* to, std::size_t from, std::size_t size);
  void write(std::size_t to, const void* from, std::size_t size);
  void invalidate();
  void flush();
  bool test_and_set(core_id id);
  void clear(core_id id);
  word fetch_increment(counter_id id);
  void set_counter(counter_id id, word value);
  void spend(cycles length) { engine_.advance(length * here_clock()); }

  /// Parks the running core, which has just loaded the word at `at` and did not like it, until it
  /// would see a store to that line.
  void await_store(std::size_t at);
  std::uint64_t stores_to(core_id core) const noexcept { return local_[core.index()].stores; }
  void await_own_store(std::uint64_t seen_before, virtual_time began);

  // --- Power (machine_power.cpp) ----------------------------------------------------------------
  int island(core_id core) const noexcept;
  void set_frequency_divider(int divider);
  power_request request_power(int divider);
  void wait_power(const power_request& request);
  const dvfs& power_state() const noexcept { return dvfs_; }
  energy_account switch_account(energy_account to) {
    return meter_.switch_account(engine_.running(), engine_.now(), to);
  }

  // --- What the running core does, for energy and trace -----------------------------------------
  void becomes_idle(activity kind) { meter_.idle(engine_.running(), kind, engine_.now()); }
  void resumes() { meter_.resume(engine_.running(), engine_.now()); }
  /// From time zero to `end`, after which nothing has happened yet.
  usage_report usage(virtual_time end);

  std::size_t offset_of(const void* address) const;
  int counters() const noexcept { return static_cast<int>(counters_.size()); }

 private:
  /// Of creek::charge().
  struct core_clock final : charge_sink {
    machine* on = nullptr;
    void charge(cycles length) noexcept override { on->spend(length); }
  };
  /// Serves one request at a time, first come first served.
  struct server {
    virtual_time free_at;
    /// When a request that arrives at `arrival` is begun.
    virtual_time begin(virtual_time arrival, virtual_time service) noexcept {
      const virtual_time start = std::max(arrival, free_at);
      free_at = start + service;
      return start;
    }
  };
  /// What belongs to one core.
  struct core_state {
    clock_period clock;         ///< of its tile, now
    virtual_time acknowledged;  ///< when its last request is: no other leaves before
    // Of the polling that it is parked in: when the next look begins, how long each takes until
    // the next, and after what part of it the word is read.
    virtual_time next_look;
    virtual_time look_period;
    virtual_time look_offset;
    l1_cache l1;
    write_combine_buffer combining;
    std::uint64_t stores = 0;  ///< to its own MPB, by anybody
    bool test_and_set = false;
    bool awaits_any = false;         ///< parked for a store to its own MPB
    bool awaits_line = false;        ///< parked for a store to watched_line
    std::int32_t next_watcher = -1;  ///< of the same line
    std::uint32_t watched_line = 0;
  };
  /// A request on its way: when it is served, and when its sender has the answer.
  struct passage {
    virtual_time start;
    virtual_time arrival;
    virtual_time served;
    virtual_time answered;
  };
  /// Requests to message-passing memory, by the core that sent them and by that whose it is.
  struct core_traffic {
    std::uint64_t reads = 0, writes = 0;
    std::uint64_t bytes_out = 0, bytes_in = 0;
  };

  clock_period here_clock() const noexcept { return clock(engine_.running()); }
  core_state& here() noexcept { return local_[engine_.running().index()]; }
  core_id owner(std::size_t at) const noexcept {
    return core_id{static_cast<int>(at / chip_.mpb_bytes)};
  }
  std::byte* bytes_at(std::size_t at) noexcept { return mpb_.get() + at; }
  /// Sends the running core's request over the mesh and waits for its turn: `overhead` core cycles
  /// and the way to `to`. At `served` the caller does what is to be done.
  passage request(core_id to, cycles overhead);
  passage request(mesh_place to, cycles core_cycles, server& port, cycles service);
  void send_combined();
  void stored(std::size_t at, virtual_time when);
  void wake_at_look(core_id core, virtual_time when);
  /// Parks the running core, polling.
  void park(const char* what, std::uint64_t address);
  /// Lets a core that is parked, polling, look once more.
  void look_again(core_id core, virtual_time when);
  int tile_of(core_id core) const noexcept { return core.value / chip_.cores_per_tile; }
  void change_clock(int tile, virtual_time at, clock_period clock);
  bool change_island_clock(const power_request& request);
  void go_on_at(virtual_time at);
  void count_read(std::size_t at, std::size_t size) noexcept {
    ++traffic_[engine_.running().index()].reads;
    traffic_[owner(at).index()].bytes_out += size;
  }
  void count_write(std::size_t at, std::size_t size) noexcept {
    ++traffic_[engine_.running().index()].writes;
    traffic_[owner(at).index()].bytes_in += size;
  }

  chip chip_;
  engine engine_;
  core_clock charged_;
  std::unique_ptr<std::byte[]> mpb_;
  std::vector<core_state> local_;
  std::vector<server> ports_;  ///< of each tile's MPB
  server counter_port_;
  std::vector<word> counters_;
  energy_meter meter_;
  dvfs dvfs_;
  std::vector<core_traffic> traffic_;
  std::vector<std::int32_t> watchers_;  ///< of each line: first core parked for it, -1 if none
};

}  // namespace creek::scc_backend
