// SPDX-License-Identifier: Apache-2.0
// A unit of execution (UE): what the C interface asks of the memory and the protocols below it,
// with the memory's type behind virtual functions, since a program is compiled for no backend.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/broadcast.hpp>
#include <creek/core/rendezvous.hpp>
#include <creek/core/symmetric_allocator.hpp>
#include <creek/core/test_and_set_lock.hpp>
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
  bool pipelined = false;  ///< RCCE_send and RCCE_recv too
  /// Bytes of each MPB through which two-sided messages go; 0: what is left, or with the one-sided
  /// interface, whose programs want it for themselves, two lines.
  std::size_t buffer_bytes = 0;
};

/// How a program was compiled; found in its object.
struct program_style {
  bool gory = false;
  bool single_bit_flags = false;
};

/// Memory of one run that all UEs reach without the MPBs, for RCCE_shmalloc: zero at first, costs
/// only what is touched.
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

/// Where things lie in every MPB: the words of messages, their buffer, the rest for allocator.
/// Throws usage_error if that does not fit into `mpb` bytes.
struct mpb_layout {
  std::size_t buffer = 0;
  std::size_t buffer_bytes = 0;
  std::size_t rest = 0;
};
mpb_layout lay_out(std::size_t mpb, int count, program_style style, std::size_t buffer_bytes);

/// One UE of a run. Its virtual functions are the operations that take time; they are called on the
/// UE's own flow of control only. UEs are named by rank.
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
  /// Whether another UE has failed: programs may ask for ever for what it will not do.
  const std::atomic<bool>& run_failed;

  // --- Below -------------------------------------------------------------------------------------
  /// The first byte of this UE's MPB, and how many there are.
  virtual std::byte* mpb() = 0;
  virtual std::size_t mpb_bytes() = 0;
  virtual void put(int to, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get(void* to, int from, std::size_t offset, std::size_t bytes) = 0;
  virtual word load(int of, std::size_t offset) = 0;
  virtual void signal(int of, std::size_t offset, word value) = 0;
  /// Until the bits of this UE's own word that are in `mask` are all set, or all clear.
  virtual void wait_until(std::size_t offset, word mask, bool set) = 0;
  virtual void fence() = 0;
  virtual void lock(int of) = 0;
  virtual void unlock(int of) = 0;

  virtual void begin_send(message_request& request) = 0;
  virtual void begin_receive(message_request& request) = 0;
  virtual void wait(message_request& request) = 0;
  /// Pushes messages on until `done`, which they make true.
  virtual void wait_for(const std::function<bool()>& done) = 0;
  virtual void push() = 0;
  virtual bool arrived(int from) = 0;
  virtual bool sending() = 0;
  virtual bool receiving() = 0;
  virtual bool is_first(const message_request& request) = 0;
  virtual bool cancel(message_request& request) = 0;

  /// A barrier of the given ranks, whose words lie at `offset` (zero) in the MPB of each.
  virtual std::unique_ptr<comm_barrier> make_barrier(const std::vector<int>& ranks,
                                                     std::size_t offset) = 0;
  /// The program says what it has computed.
  virtual void charge(cycles) {}
  /// Between these the program's time counts as computing, where that is measured.
  virtual void start_computing() {}
  virtual void stop_computing() {}
  /// Returns the time; may be polled, so it takes time and lets other UEs run first.
  virtual double seconds() = 0;
  /// An access of this UE's own, for loops that look for something which is not simulated: takes
  /// time, lets others go first, and ends a run of nothing but such loops.
  void look_on() { (void)load(rank, static_cast<std::size_t>(rank) * sizeof(word)); }

  // --- Power -------------------------------------------------------------------------------------
  /// The voltage island that a UE's core is on.
  virtual int power_domain_of(int of) = 0;
  /// The divider that all tiles begin with.
  virtual int default_divider() = 0;
  /// Whether there is such a divider, and whether a voltage allows it: RCCE_SUCCESS or an error;
  /// `level` is the voltage's.
  virtual int check_divider(int divider) = 0;
  virtual int check_power(int divider, int& level) = 0;
  /// Begins a step of voltage and frequency of this UE's island: RCCE_SUCCESS or an error; `level`
  /// is the new voltage's.
  virtual int request_power(int divider, int& level) = 0;
  virtual void wait_power() = 0;
  /// Changes the clocks of this UE's island alone: RCCE_SUCCESS or an error.
  virtual int set_divider(int divider) = 0;
  /// Returns the dividers of all tiles, in order.
  virtual std::vector<int> dividers() = 0;

  /// The UE that runs on this thread, which within a call may be another one.
  virtual int running() { return rank; }

  // --- Here --------------------------------------------------------------------------------------
  /// Current activity of the UE, for the report of a deadlock or a crash.
  struct {
    const char* call = nullptr;  ///< null: its own code
    const char* peer = "";       ///< meaning of `number`
    int number = -1;
  } activity;
  [[nodiscard]] std::string describe() const;

  /// MPB memory for the program's blocks, flags and communicators, alike on every UE.
  symmetric_allocator allocator;
  symmetric_allocator shared_pages{0, shared_region::bytes, shared_region::page};
  shared_region& shared;

  struct communicator_space {
    mpm_block words;
    std::unique_ptr<comm_barrier> barrier;
  };
  /// Whether a line of the MPB was handed out before, so that it may hold other than zeros.
  [[nodiscard]] bool is_used(std::size_t offset) const { return used_lines_[offset / line_bytes]; }
  void mark_used(const mpm_block& block);

  std::vector<communicator_space> communicators;  ///< by RCCE_COMM::gather.location
  std::vector<mpm_block> blocks;                  ///< from RCCE_malloc and RCCE_flag_alloc
  std::vector<mpm_block> shared_blocks;           ///< from RCCE_shmalloc
  struct flag_line {
    std::size_t offset = 0;
    std::vector<bool> used;
    std::vector<bool> set_before;  ///< those that may not be zero
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
  jmp_buf escape;              ///< back to where the program was called

 private:
  std::vector<bool> used_lines_;  // per line of the MPB
};

}  // namespace creek::rcce
