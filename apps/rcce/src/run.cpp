// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>
#include <creek/scc/dvfs_control.hpp>
#include <creek/scc/time_accounting.hpp>

#include "call.hpp"
#include "crash.hpp"
#include "output.hpp"
#include "ue_on.hpp"

namespace creek::rcce {

namespace {

// Stack size that Linux gave the processes of the chip; only touched pages cost memory.
constexpr std::size_t stack_bytes = std::size_t{8} << 20;

/// The chip, and the core of each UE.
struct placement {
  const scc_backend::chip& chip;
  std::vector<core_id> cores;  ///< by UE
  std::vector<int> ues;        ///< by core; -1: none

  placement(const scc_backend::chip& on, const std::vector<int>& chosen)
      : chip{on}, ues(static_cast<std::size_t>(on.cores()), -1) {
    for (const int core : chosen) {
      ues[static_cast<std::size_t>(core)] = static_cast<int>(cores.size());
      cores.push_back(core_id{core});
    }
  }
  [[nodiscard]] int island_of(int ue) const {
    const int core = cores[static_cast<std::size_t>(ue)].value;
    return scc_backend::island_of_tile(chip, core / chip.cores_per_tile);
  }
  [[nodiscard]] int default_divider() const { return chip.power.nearest_divider(chip.clocks.core); }
  [[nodiscard]] bool has(int divider) const {
    return divider >= chip.power.lowest_divider && divider <= chip.power.highest_divider;
  }
  /// Returns the lowest voltage level for the divider's clock, or the number of levels if none.
  [[nodiscard]] int level_for(int divider) const {
    return chip.power.lowest_safe_level(chip.power.divided(divider));
  }
};

template <memory_policy Memory>
class placed_ue : public ue_on<Memory> {
 public:
  placed_ue(Memory& memory, team members, const ue::setting& given, const placement& where)
      : ue_on<Memory>(memory, std::move(members), given), where_{where} {}
  int power_domain_of(int of) override { return where_.island_of(of); }
  int default_divider() override { return where_.default_divider(); }
  int check_power(int divider, int& level) override {
    if (!where_.has(divider)) return RCCE_ERROR_FDIVIDER;
    level = where_.level_for(divider);
    const bool allowed = level < static_cast<int>(where_.chip.power.levels.size());
    return allowed ? RCCE_SUCCESS : RCCE_ERROR_FREQUENCY_EXCEEDED;
  }
  int check_divider(int divider) override {
    return where_.has(divider) ? RCCE_SUCCESS : RCCE_ERROR_FDIVIDER;
  }
  std::vector<int> dividers() override {
    const auto tiles = static_cast<std::size_t>(where_.chip.columns * where_.chip.rows);
    return std::vector<int>(tiles, where_.default_divider());
  }

 protected:
  [[nodiscard]] const placement& where() const noexcept { return where_; }

 private:
  const placement& where_;
};

class ue_on_chip final : public placed_ue<scc_backend::memory> {
 public:
  ue_on_chip(scc_backend::memory& memory, team members, const setting& given,
             const placement& where, bool measured)
      : placed_ue(memory, std::move(members), given, where), measured_{measured} {}

  void charge(cycles length) override {
    if (!measured_) memory().charge(length);
  }
  void start_computing() override { scc_backend::time_accounting(memory()).start_computing(); }
  void stop_computing() override { scc_backend::time_accounting(memory()).stop_computing(); }
  double seconds() override {
    memory().charge({});  // waiting for a time is no deadlock
    look_on();
    return memory().now().in_seconds().value;
  }
  int running() override { return where().ues[memory().running().index()]; }
  int request_power(int divider, int& level) override {
    const int error = check_power(divider, level);
    if (error == RCCE_SUCCESS)
      request_ = scc_backend::dvfs_control(memory()).request_power(divider);
    return error;
  }
  void wait_power() override { scc_backend::dvfs_control(memory()).wait_power(request_); }
  int set_divider(int divider) override {
    const int error = check_divider(divider);
    if (error != RCCE_SUCCESS) return error;
    try {
      scc_backend::dvfs_control(memory()).set_island_divider(divider);
    } catch (const usage_error&) {  // unsafe at the island's voltage at that time
      return RCCE_ERROR_FREQUENCY_EXCEEDED;
    }
    return RCCE_SUCCESS;
  }
  std::vector<int> dividers() override {
    std::vector<int> all = placed_ue::dividers();
    for (std::size_t tile = 0; tile < all.size(); ++tile) {
      const auto period = scc_backend::dvfs_control(memory()).clock_of_tile(static_cast<int>(tile));
      all[tile] = where().chip.power.nearest_divider(period);
    }
    return all;
  }

 private:
  bool measured_;
  scc_backend::power_request request_;
};

/// A UE on the host, whose clocks do not change: requests are checked and complete at once.
class ue_on_host final : public placed_ue<host_backend::memory> {
 public:
  using placed_ue::placed_ue;
  double seconds() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  int request_power(int divider, int& level) override { return check_power(divider, level); }
  void wait_power() override {}
  int set_divider(int divider) override { return check_divider(divider); }
};

/// Returns the error of a UE whose program ends by the exception that is being handled.
std::exception_ptr uncaught(int rank) {
  std::string what;
  try {
    throw;
  } catch (const std::exception& known) {
    what = known.what();
  } catch (...) {
    what = "no std::exception";
  }
  return std::make_exception_ptr(
      std::runtime_error(fmt::format("rccerun: UE {}: uncaught exception: {}", rank, what)));
}

/// State that all UEs of a run share.
class started_run {
 public:
  explicit started_run(const run_options& given)
      : given_{given}, copies_(load_copies(given.command.front(), given.ues)) {
    result.status.resize(static_cast<std::size_t>(given.ues));
    live.resize(static_cast<std::size_t>(given.ues));
    const program_style style = copies_.front().style;
    if (style.gory && style.single_bit_flags &&
        given.chosen.barrier == barrier_kind::test_and_set) {
      throw usage_error(
          "rccerun: --barrier test-and-set: a program with SINGLEBITFLAGS takes the same registers "
          "to write its flags");
    }
    collect_lines(given.ues);
    name_crashed_ues();
  }

  [[nodiscard]] ue::setting setting_of(int rank) {
    return {rank, given_.ues, copies_.front().style, given_.chosen, &shared_, &failed_};
  }

  /// Runs the whole life of a UE, on its own flow of control.
  void live_through(ue& self) {
    const program_copy& copy = copies_[static_cast<std::size_t>(self.rank)];
    self.world = copy.world;
    self.power_domain = copy.power_domain;
    live[static_cast<std::size_t>(self.rank)] = &self;
    try {
      call_program(self, copy);
      if (!self.failure) self.stop_computing();
    } catch (...) {
      self.failure = std::current_exception();
    }
    if (!self.failure) result.status[static_cast<std::size_t>(self.rank)] = self.status;
    end_lines(self.rank);
    live[static_cast<std::size_t>(self.rank)] = nullptr;
    set_current(nullptr);
    if (!self.failure) return;
    // The first failure ends all UEs: later failures mostly result from it.
    std::call_once(first_, [&] { failure_ = self.failure; });
    failed_.store(true, std::memory_order_relaxed);
    std::rethrow_exception(failure_);
  }

  run_result result;
  std::vector<ue*> live;  ///< UEs that have begun and not ended

 private:
  /// Arguments that the program may write to.
  struct argument_list {
    explicit argument_list(const std::vector<std::string>& from) : strings(from) {
      for (std::string& one : strings) pointers.push_back(one.data());
      pointers.push_back(nullptr);
    }
    std::vector<std::string> strings;
    std::vector<char*> pointers;
  };

  void call_program(ue& self, const program_copy& copy) {
    argument_list arguments(given_.command);
    set_current(&self);
    end_call(self);
    // leave_program() jumps back here, from exit() and from calls that failed.
    if (_setjmp(self.escape) == 0) {
      try {
        self.status = copy.main(static_cast<int>(given_.command.size()), arguments.pointers.data());
      } catch (...) {  // thrown by the program: those of calls do not reach it
        self.failure = uncaught(self.rank);
      }
    }
    self.activity = {};
  }

  const run_options& given_;
  std::vector<program_copy> copies_;
  shared_region shared_;
  std::once_flag first_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace

run_result run_on_chip(const run_options& given) {
  const placement where(given.chip.description, given.cores);
  started_run run(given);
  (void)lay_out(given.chip.description.mpb_bytes, given.ues, run.setting_of(0).style,
                given.chosen.buffer_bytes);
  scc_backend::machine_options options = given.chip;
  options.stack_bytes = stack_bytes;
  options.describe = [&](core_id core) {
    const int rank = where.ues[core.index()];
    const ue* self = rank < 0 ? nullptr : run.live[static_cast<std::size_t>(rank)];
    return self == nullptr ? std::string() : self->describe();
  };
  const handler_stack for_crashes;
  run.result.report = scc_backend::run_cores(options, [&](scc_backend::memory& memory) {
    const int rank = where.ues[memory.self().index()];
    if (rank < 0) return;
    scc_backend::time_accounting(memory).stop_computing();  // until the program is called
    ue_on_chip self(memory, team(where.cores, memory.self()), run.setting_of(rank), where,
                    options.cycles_a_host_second > 0);
    run.live_through(self);
  });
  return std::move(run.result);
}

run_result run_on_host(const run_options& given) {
  const placement where(given.chip.description, given.cores);
  started_run run(given);
  const host_backend::memory_options like_the_chip{.mpm_bytes = given.chip.description.mpb_bytes};
  (void)lay_out(like_the_chip.mpm_bytes, given.ues, run.setting_of(0).style,
                given.chosen.buffer_bytes);
  host_backend::run_ranks(given.ues, like_the_chip, [&](host_backend::memory& memory) {
    const handler_stack for_crashes;
    ue_on_host self(memory, team(memory), run.setting_of(memory.self().value), where);
    run.live_through(self);
  });
  return std::move(run.result);
}

}  // namespace creek::rcce

// Programs are linked with --wrap=exit and the like, so that only the UE that exits ends.
extern "C" {

[[noreturn]] void __wrap_exit(int status) {
  using namespace creek::rcce;
  ue* self = current();
  if (self == nullptr) std::exit(status);
  self->status = status;
  leave_program(*self);
}

[[noreturn]] void __wrap__exit(int status) {
  __wrap_exit(status);
}
[[noreturn]] void __wrap__Exit(int status) {
  __wrap_exit(status);
}
[[noreturn]] void __wrap_quick_exit(int status) {
  __wrap_exit(status);
}

}  // extern "C"
