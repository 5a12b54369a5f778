// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <exception>
#include <string>
#include <utility>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>

namespace creek::scc_backend {

namespace {

std::size_t checked_stack(std::size_t bytes) {
  if (bytes >= machine::min_stack && bytes <= machine::max_stack) return bytes;
  throw usage_error("simulated chip: a core's stack must have 16 KiB to 4 GiB, not " +
                    std::to_string(bytes) + " bytes");
}

/// Charges what programs state to the running core. Must not throw: the program is told at its next
/// wait or load, and run() reports the failure.
class stated_charges final : public charge_sink {
 public:
  explicit stated_charges(machine& on) noexcept : on_{on} {}

  void charge(cycles length) noexcept override {
    // Computation that is measured need not be stated.
    if (on_.computing().measures()) return;
    try {
      on_.computing().charge(length);
      on_.computing().notice_time();
    } catch (...) {
      on_.simulation().fail(std::current_exception());
    }
  }
  void move_block(std::uint64_t block, std::size_t bytes, bool written) noexcept override {
    try {
      const core_operation begun(on_);
      on_.memory().bulk().move_block(block, bytes, written);
      on_.computing().notice_time();
    } catch (...) {
      on_.simulation().fail(std::current_exception());
    }
  }

 private:
  machine& on_;
};

/// Serves creek::power's meters on the thread of the simulation.
class chip_meter final : public simulated_meter {
 public:
  explicit chip_meter(machine& on) noexcept : on_{on} {}

  /// Lets cores that are behind run first: then all energy used up to now is known.
  simulated_energy read() noexcept override {
    const core_operation begun(on_);
    const virtual_time time = on_.simulation().now();
    on_.simulation().order_at(time);
    return {on_.log().meter().used_until(time), time.in_seconds()};
  }
  units::seconds now() noexcept override {
    const core_operation begun(on_);
    return on_.simulation().now().in_seconds();
  }

 private:
  machine& on_;
};

/// Has the calling thread's charges and meters go to the simulation. Simulations may nest: a task
/// of one may run another to its end.
class installed_hooks {
 public:
  explicit installed_hooks(machine& on) noexcept
      : charges_{on},
        meter_{on},
        outer_charges_{std::exchange(detail::charged_to, &charges_)},
        outer_meter_{std::exchange(detail::metered_by, &meter_)} {}
  ~installed_hooks() {
    detail::charged_to = outer_charges_;
    detail::metered_by = outer_meter_;
  }
  installed_hooks(const installed_hooks&) = delete;
  installed_hooks& operator=(const installed_hooks&) = delete;

 private:
  stated_charges charges_;
  chip_meter meter_;
  charge_sink* outer_charges_;
  simulated_meter* outer_meter_;
};

}  // namespace

machine::machine(const chip& description, std::size_t stack_bytes, virtual_time stuck_after,
                 bool check)
    : chip_((description.validate(), description)),
      simulation_(chip_.cores(), checked_stack(stack_bytes)),
      clocks_(chip_, simulation_),
      limits_(simulation_, stuck_after),
      computing_(chip_, simulation_, clocks_, limits_),
      memory_(chip_, simulation_, clocks_, limits_, computing_, check),
      log_(chip_, simulation_),
      interrupts_(chip_, simulation_, clocks_, limits_, computing_, memory_, log_),
      waits_(chip_, simulation_, clocks_, computing_, memory_, log_, interrupts_),
      power_(chip_, simulation_, clocks_, limits_, memory_.network(), memory_.watchers(), log_),
      records_(chip_, log_, memory_.traffic(), interrupts_) {}

void machine::run(const std::function<void(core_id)>& body) {
  const installed_hooks here(*this);
  simulation_.run([&](core_id core) {
    log_.resumes();
    body(core);
    if (memory_.check() != nullptr) memory_.check()->ended();
    log_.becomes_idle(activity::finished);
  });
}

}  // namespace creek::scc_backend
