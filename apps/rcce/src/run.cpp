// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>

#include <creek/host/spmd.hpp>

#include "call.hpp"
#include "crash.hpp"
#include "output.hpp"
#include "ue_on.hpp"

namespace creek::rcce {

namespace {

// As much as Linux gave the processes of the chip; only touched pages cost memory.
constexpr std::size_t stack_bytes = std::size_t{8} << 20;

class ue_on_chip final : public ue_on<scc_backend::memory> {
 public:
  ue_on_chip(scc_backend::memory& memory, team members, const setting& given,
             const std::vector<int>& ue_of_core)
      : ue_on(memory, std::move(members), given), ue_of_core_{ue_of_core} {}
  double seconds() override { return memory().now().in_seconds().value; }
  int running() override { return ue_of_core_[memory().running().index()]; }

 private:
  const std::vector<int>& ue_of_core_;
};

class ue_on_host final : public ue_on<host_backend::memory> {
 public:
  using ue_on::ue_on;
  double seconds() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

/// What all UEs of a run have in common.
class started_run {
 public:
  explicit started_run(const run_options& given)
      : given_{given}, copies_(load_copies(given.command.front(), given.ues)) {
    result.status.resize(static_cast<std::size_t>(given.ues));
    live.resize(static_cast<std::size_t>(given.ues));
    collect_lines(given.ues);
    name_crashed_ues();
  }

  [[nodiscard]] ue::setting setting_of(int rank) {
    return {rank, given_.ues, copies_.front().style, given_.chosen, &shared_};
  }

  /// The whole life of a UE, on its own flow of control.
  void live_through(ue& self) {
    const program_copy& copy = copies_[static_cast<std::size_t>(self.rank)];
    self.world = copy.world;
    self.power_domain = copy.power_domain;
    self.clock = stretch_clock(given_.cycles_a_host_second);
    live[static_cast<std::size_t>(self.rank)] = &self;
    call_program(self, copy);
    if (!self.failure) {
      begin_call(self);  // the stretch to its end
      result.status[static_cast<std::size_t>(self.rank)] = self.status;
    }
    end_lines(self.rank);
    live[static_cast<std::size_t>(self.rank)] = nullptr;
    set_current(nullptr);
    if (self.failure) std::rethrow_exception(self.failure);
  }

  run_result result;
  std::vector<ue*> live;  ///< those that have begun and not ended

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
    // leave_program() comes back here, from exit() and from calls that failed.
    if (_setjmp(self.escape) == 0) {
      self.status = copy.main(static_cast<int>(given_.command.size()), arguments.pointers.data());
    }
    self.activity = {};
  }

  const run_options& given_;
  std::vector<program_copy> copies_;
  shared_region shared_;
};

}  // namespace

run_result run_on_chip(const run_options& given) {
  require_shared_object(given.command.front());
  const auto cores = static_cast<std::size_t>(given.chip.description.cores());
  std::vector<int> ue_of_core(cores, -1);
  std::vector<core_id> members;
  for (const int core : given.cores) {
    ue_of_core[static_cast<std::size_t>(core)] = static_cast<int>(members.size());
    members.push_back(core_id{core});
  }
  started_run run(given);
  (void)lay_out(given.chip.description.mpb_bytes, given.ues, run.setting_of(0).style,
                given.chosen.buffer_bytes);
  scc_backend::machine_options options = given.chip;
  options.stack_bytes = stack_bytes;
  options.describe = [&](core_id core) {
    const int rank = ue_of_core[core.index()];
    const ue* self = rank < 0 ? nullptr : run.live[static_cast<std::size_t>(rank)];
    return self == nullptr ? std::string() : self->describe();
  };
  const handler_stack for_crashes;
  run.result.report = scc_backend::run_cores(options, [&](scc_backend::memory& memory) {
    const int rank = ue_of_core[memory.self().index()];
    if (rank < 0) return;
    ue_on_chip self(memory, team(members, memory.self()), run.setting_of(rank), ue_of_core);
    run.live_through(self);
  });
  return std::move(run.result);
}

run_result run_on_host(const run_options& given) {
  started_run run(given);
  const host_backend::memory_options like_the_chip{.mpm_bytes = given.chip.description.mpb_bytes};
  (void)lay_out(like_the_chip.mpm_bytes, given.ues, run.setting_of(0).style,
                given.chosen.buffer_bytes);
  host_backend::run_ranks(given.ues, like_the_chip, [&](host_backend::memory& memory) {
    const handler_stack for_crashes;
    ue_on_host self(memory, team(memory), run.setting_of(memory.self().value));
    run.live_through(self);
  });
  return std::move(run.result);
}

}  // namespace creek::rcce

// Programs are linked with --wrap=exit: a UE that exits ends alone.
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

}  // extern "C"
