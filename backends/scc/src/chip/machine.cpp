// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <string>

#include <creek/core/energy.hpp>
#include <creek/core/error.hpp>

#include "core_observer.hpp"

namespace creek::scc_backend {

namespace {

std::size_t checked_stack(std::size_t bytes) {
  if (bytes >= machine::min_stack && bytes <= machine::max_stack) return bytes;
  throw usage_error("simulated chip: a core's stack must have 16 KiB to 4 GiB, not " +
                    std::to_string(bytes) + " bytes");
}

/// Observer of a run without a task runtime.
class run_observer final : public core_observer {
 public:
  using core_observer::core_observer;
};

/// Serves creek::power's meters on the thread of the simulation.
class chip_meter final : public backend_meter {
 public:
  explicit chip_meter(machine& on) noexcept : on_{on} {}

  /// Lets cores that are behind run first: then all energy used up to now is known.
  metered_energy read() noexcept override {
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

/// Has the calling thread's meters go to the simulation. Simulations may nest: a task of one may
/// run another to its end.
class installed_meter {
 public:
  explicit installed_meter(machine& on) noexcept
      : meter_{on}, outer_{backend_meter::exchange(&meter_)} {}
  ~installed_meter() { backend_meter::exchange(outer_); }
  installed_meter(const installed_meter&) = delete;
  installed_meter& operator=(const installed_meter&) = delete;

 private:
  chip_meter meter_;
  backend_meter* outer_;
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
  run_observer observer(*this);
  run(observer, body);
}

void machine::run(execution_observer& observer, const std::function<void(core_id)>& body) {
  const observed_thread observed(observer);
  const installed_meter metered(*this);
  simulation_.run([&](core_id core) {
    log_.resumes();
    body(core);
    if (memory_.check() != nullptr) memory_.check()->ended();
    log_.becomes_idle(activity::finished);
  });
}

}  // namespace creek::scc_backend
