// SPDX-License-Identifier: Apache-2.0
// A unit of execution (UE): the operations on memory and protocols that the C interface needs. They
// are virtual where the memory's type matters, since a program is compiled for no backend.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/messages/broadcast.hpp>
#include <creek/core/messages/rendezvous.hpp>
#include <creek/core/messages/symmetric_allocator.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/units.hpp>

#include "RCCE.h"
#include "iRCCE.h"

namespace creek::rcce {

inline constexpr std::size_t line_bytes = RCCE_LINE_SIZE;

enum class barrier_kind { gather_release, test_and_set, dissemination };

/// Protocols that a user of rccerun can choose; the first value of each is RCCE's own.
struct protocols {
  broadcast_kind broadcast = broadcast_kind::simple;
  barrier_kind barrier = barrier_kind::gather_release;
  lock_retry retry = lock_retry::spin;
  bool pipelined = false;  ///< applies to RCCE_send and RCCE_recv too
  /// Bytes of each MPB for two-sided messages; 0: all that is left, or two lines with the one-sided
  /// interface, whose programs need the MPB themselves.
  std::size_t buffer_bytes = 0;
};

/// How a program was compiled, read from its object.
struct program_style {
  bool gory = false;
  bool single_bit_flags = false;
};

/// Memory of one run that all UEs reach without the MPBs, for RCCE_shmalloc: initially zero; only
/// touched pages cost memory.
class shared_region {
 public:
  static constexpr std::size_t bytes = std::size_t{64} << 20;  // RCCE's default [Mattson 2010]
  static constexpr std::size_t page = 4096;
  shared_region();
  ~shared_region();
  shared_region(const shared_region&) = delete;
  shared_region& operator=(const shared_region&) = delete;
  [[nodiscard]] std::byte* base() const noexcept { return base_; }

 private:
  std::byte* base_;
};

/// A barrier of a communicator.
class comm_barrier {
 public:
  virtual ~comm_barrier() = default;
  virtual void wait() = 0;
};

/// Layout of every MPB: the words of messages, their buffer, and the rest for the allocator. Throws
/// usage_error if that does not fit into `mpb` bytes.
struct mpb_layout {
  std::size_t buffer = 0;
  std::size_t buffer_bytes = 0;
  std::size_t rest = 0;
};
mpb_layout lay_out(std::size_t mpb, int count, program_style style, std::size_t buffer_bytes);

/// One UE of a run. Its virtual functions are the operations that take time; they are called only
/// on the UE's own flow of control. UEs are named by rank.
class ue {
 public:
  struct setting {
    int rank = 0;
    int count = 1;
    program_style style;
    protocols chosen;
    shared_region* shared = nullptr;
    const std::atomic<bool>* run_failed = nullptr;
  };
  ue(const setting& given, const mpb_layout& where, std::size_t mpb);
  virtual ~ue() = default;
  ue(const ue&) = delete;
  ue& operator=(const ue&) = delete;

  const int rank;
  const int count;
  const program_style style;
  const protocols chosen;
  /// Whether another UE has failed, so that loops of this program do not wait for it forever.
  const std::atomic<bool>& run_failed;

  // --- Operations of the backend -----------------------------------------------------------------
  /// Return the first byte of this UE's MPB, and its size.
  virtual std::byte* mpb() = 0;
  virtual std::size_t mpb_bytes() = 0;
  virtual void put(int to, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get(void* to, int from, std::size_t offset, std::size_t bytes) = 0;
  virtual word load(int of, std::size_t offset) = 0;
  virtual void signal(int of, std::size_t offset, word value) = 0;
  /// Waits until the bits in `mask` of this UE's own word are all set, or all clear.
  virtual void wait_until(std::size_t offset, word mask, bool set) = 0;
  virtual void fence() = 0;
  virtual void lock(int of) = 0;
  virtual void unlock(int of) = 0;

  virtual void begin_send(message_request& request) = 0;
  virtual void begin_receive(message_request& request) = 0;
  virtual void wait(message_request& request) = 0;
  /// Makes progress on messages until `done` returns true.
  virtual void wait_for(const std::function<bool()>& done) = 0;
  virtual void push() = 0;
  virtual bool arrived(int from) = 0;
  virtual bool sending() = 0;
  virtual bool receiving() = 0;
  virtual bool is_first(const message_request& request) = 0;
  virtual bool cancel(message_request& request) = 0;

  /// Makes a barrier of the given ranks, whose words lie at `offset` (zero) in the MPB of each.
  virtual std::unique_ptr<comm_barrier> make_barrier(const std::vector<int>& ranks,
                                                     std::size_t offset) = 0;
  /// Charges the computing that the program states.
  virtual void charge(cycles) {}
  /// Between these calls the program's time counts as computing, on backends that measure it.
  virtual void start_computing() {}
  virtual void stop_computing() {}
  /// Returns the time. Programs may poll it, so it takes time and lets other UEs run first.
  virtual double seconds() = 0;
  /// Does an access of this UE's own, for loops that poll something which is not simulated: takes
  /// time, lets other UEs run first, and ends a run in which all UEs only poll.
  void look_on() { (void)load(rank, static_cast<std::size_t>(rank) * sizeof(word)); }

  // --- Power -------------------------------------------------------------------------------------
  /// Returns the voltage island of a UE's core.
  virtual int power_domain_of(int of) = 0;
  /// Returns the divider that all tiles begin with.
  virtual int default_divider() = 0;
  /// Checks that the divider exists, and that a voltage allows it. Returns RCCE_SUCCESS or an
  /// error; sets `level` to the voltage's.
  virtual int check_divider(int divider) = 0;
  virtual int check_power(int divider, int& level) = 0;
  /// Begins a step of voltage and frequency of this UE's island. Returns RCCE_SUCCESS or an error;
  /// sets `level` to the new voltage's.
  virtual int request_power(int divider, int& level) = 0;
  virtual void wait_power() = 0;
  /// Changes only the clocks of this UE's island. Returns RCCE_SUCCESS or an error.
  virtual int set_divider(int divider) = 0;
  /// Returns the dividers of all tiles, in order.
  virtual std::vector<int> dividers() = 0;

  /// Returns the UE that runs on this thread, which within a call may be another one.
  virtual int running() { return rank; }

  // --- State common to all backends --------------------------------------------------------------
  /// Current activity of the UE, for the report of a deadlock or a crash.
  struct {
    const char* call = nullptr;  ///< null: its own code
    const char* peer = "";       ///< meaning of `number`
    int number = -1;
  } activity;
  [[nodiscard]] std::string describe() const;

  /// Allocator of MPB memory for the program's blocks, flags and communicators, alike on every UE.
  symmetric_allocator allocator;
  symmetric_allocator shared_pages{0, shared_region::bytes, shared_region::page};
  shared_region& shared;

  struct communicator_space {
    mpm_block words;
    std::unique_ptr<comm_barrier> barrier;
  };
  /// Returns whether a line of the MPB was handed out before, so that it may be nonzero.
  [[nodiscard]] bool is_used(std::size_t offset) const { return used_lines_[offset / line_bytes]; }
  void mark_used(const mpm_block& block);

  std::vector<communicator_space> communicators;  ///< indexed by RCCE_COMM::gather.location
  std::vector<mpm_block> blocks;                  ///< from RCCE_malloc and RCCE_flag_alloc
  std::vector<mpm_block> shared_blocks;           ///< from RCCE_shmalloc
  struct flag_line {
    std::size_t offset = 0;
    std::vector<bool> used;
    std::vector<bool> set_before;  ///< flags that may be nonzero
  };
  std::vector<flag_line> flag_lines;  ///< lines that hold flags of one bit each
  bool initialized = false;
  bool power_pending = false;  ///< a power request was made and not waited for
  long long power_requests = 0;
  unsigned debug = 0;                 ///< kinds of calls whose errors are printed
  RCCE_COMM* world = nullptr;         ///< the program's RCCE_COMM_WORLD
  RCCE_COMM* power_domain = nullptr;  ///< its RCCE_P_COMM; null: without power management

  int status = 0;              ///< value that the program returned or gave to exit()
  std::exception_ptr failure;  ///< reason if the program did not return or exit
  jmp_buf escape;              ///< jumps back to where the program was called

 private:
  std::vector<bool> used_lines_;  // per line of the MPB
};

}  // namespace creek::rcce
