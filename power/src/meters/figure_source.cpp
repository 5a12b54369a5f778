// SPDX-License-Identifier: Apache-2.0
#include "figure_source.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/core/energy.hpp>

#include "sampled_counters.hpp"

namespace creek::power::detail {

opened_counters open_counters(meter_source source, const std::string& sysfs) {
  if (source == meter_source::rapl) return open_rapl(sysfs);
  if (source == meter_source::perf) return open_perf(sysfs);
  return open_nvml();
}

namespace {

unsigned usable_processors() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&mask)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

energy_figure unavailable(std::string reason) {
  return {no_joules, energy_origin::unavailable, {}, std::move(reason)};
}

class no_source final : public figure_source {
 public:
  explicit no_source(std::string why) : why_(std::move(why)) {}
  void begin() override {}
  void read(sampled_domains, meter_reading& into) override { into.energy = unavailable(why_); }

 private:
  std::string why_;
};

class counted_source final : public figure_source {
 public:
  counted_source(opened_counters opened, meter_source source, const meter_options& options)
      : source_(source), sysfs_(options.sysfs), every_(options.sample_every) {
    use(std::move(opened));
  }

  void begin() override {
    if (!problem_.empty()) {  // failed counters may work again, from now on
      counters_.reset();
      use(open_counters(source_, sysfs_));
    }
    if (problem_.empty()) problem_ = counters_->sample(sampled_domains::all, first_);
    last_ = first_;
  }

  void read(sampled_domains which, meter_reading& into) override {
    if (problem_.empty()) problem_ = counters_->sample(which, last_);
    if (!problem_.empty()) {
      into.energy = unavailable(problem_);
      return;
    }
    const bool all = which == sampled_domains::all;
    const auto domains = counters_->domains();
    if (all) into.domains.reserve(domains.size());
    units::joules total;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      const units::joules used = last_[i] - first_[i];
      if (domains[i].counted) total += used;
      const bool known = !std::isnan(used.value);
      if (all && known) into.domains.push_back({domains[i].name, used, domains[i].counted});
    }
    into.energy =
        total.value > 0
            ? energy_figure{total, energy_origin::measured, std::string(to_string(source_)), {}}
            : unavailable(stood_still(into.wall));
  }

 private:
  void use(opened_counters opened) {
    problem_ = opened.why_not;
    if (opened.counters == nullptr) return;
    counters_ = std::make_unique<sampled_counters>(std::move(opened), every_);
    first_.assign(counters_->domains().size(), {});
  }

  [[nodiscard]] std::string stood_still(units::seconds span) const {
    return fmt::format(
        "the counters of {} did not move in {:.3g} ms; they are updated about every millisecond",
        to_string(source_), 1e3 * span.value);
  }

  meter_source source_;
  std::string sysfs_;
  std::chrono::milliseconds every_;
  std::unique_ptr<sampled_counters> counters_;
  std::string problem_;
  std::vector<units::joules> first_, last_;
};

class modelled_source final : public figure_source {
 public:
  bool needs_cpu_time() const noexcept override { return true; }

  explicit modelled_source(const meter_options& options)
      : model_(options.model),
        activity_(options.activity),
        cores_(options.cores != 0 ? options.cores : usable_processors()) {
    model_.validate();
  }

  void begin() override {
    if (activity_ != nullptr) before_ = activity_->activity();
  }

  void read(sampled_domains, meter_reading& into) override {
    core_activity what{
        .wall = into.wall, .computing = {}, .polling = {}, .cores = cores_, .clock = {}};
    if (activity_ != nullptr) {
      const core_activity now = activity_->activity();
      if (has_less(now.computing, before_.computing) || has_less(now.polling, before_.polling)) {
        into.energy = unavailable(
            "what workers did was forgotten since the meter began; restart the meter when you "
            "restart accounting");
        return;
      }
      what.computing = now.computing - before_.computing;
      what.polling = now.polling - before_.polling;
      what.clock = now.clock;
    }
    // Threads that are not workers count as computing.
    const double others = into.cpu.value - what.computing.value - what.polling.value;
    what.computing += units::seconds{std::max(0.0, others)};
    into.energy = {model_.energy(what), energy_origin::modelled, "model", {}};
  }

 private:
  /// Returns whether `now` is less than `before` by more than rounding.
  static bool has_less(units::seconds now, units::seconds before) noexcept {
    return now.value < before.value - 1e-9;
  }

  host_model model_;
  const activity_source* activity_;
  unsigned cores_;
  core_activity before_;
};

/// Backend with its own clock that the thread which created the meter runs.
class metered_source final : public figure_source {
 public:
  void begin() override {
    meter_ = backend_meter::current();
    if (meter_ != nullptr) before_ = meter_->read();
  }
  void read(sampled_domains, meter_reading& into) override {
    if (meter_ == nullptr || backend_meter::current() != meter_) {
      into.energy = unavailable("the meter was made in a simulation and is read outside of it");
      return;
    }
    const metered_energy now = meter_->read();
    into.energy = {now.energy - before_.energy, energy_origin::by_backend, "simulation", {}};
    into.wall = now.time - before_.time;
  }

 private:
  backend_meter* meter_ = nullptr;
  metered_energy before_;
};

/// If simulations ran to their end meanwhile, they are the figure; otherwise the machine is.
class simulations_or final : public figure_source {
 public:
  explicit simulations_or(std::unique_ptr<figure_source> machine) : machine_(std::move(machine)) {}

  bool needs_cpu_time() const noexcept override { return machine_->needs_cpu_time(); }
  void begin() override {
    before_ = metered_runs::so_far();
    machine_->begin();
  }
  void read(sampled_domains which, meter_reading& into) override {
    if (backend_meter::current() != nullptr) {
      into.energy = unavailable("the meter was made outside of the simulation in which it is read");
      return;
    }
    const run_total now = metered_runs::so_far();
    if (now.runs == before_.runs) return machine_->read(which, into);
    into.energy = {
        now.sum.energy - before_.sum.energy, energy_origin::by_backend, "simulation", {}};
    into.wall = now.sum.time - before_.sum.time;
  }

 private:
  std::unique_ptr<figure_source> machine_;
  run_total before_;
};

std::unique_ptr<figure_source> measured_if_possible(const meter_options& options) {
  std::string why;
  for (const meter_source each : asked_in_order) {
    opened_counters opened = open_counters(each, options.sysfs);
    if (opened.counters != nullptr) {
      return std::make_unique<counted_source>(std::move(opened), each, options);
    }
    why += (why.empty() ? "" : "; ") + std::string(to_string(each)) + ": " + opened.why_not;
  }
  return std::make_unique<no_source>(why + "; CREEK_METER=model estimates");
}

}  // namespace

std::unique_ptr<figure_source> make_figure_source(const meter_options& options) {
  switch (options.source) {
    case meter_source::automatic:
      if (backend_meter::current() != nullptr) return std::make_unique<metered_source>();
      return std::make_unique<simulations_or>(measured_if_possible(options));
    case meter_source::none:
      return std::make_unique<no_source>("not asked for (meter none)");
    case meter_source::model:
      return std::make_unique<modelled_source>(options);
    default: {
      opened_counters opened = open_counters(options.source, options.sysfs);
      if (opened.counters == nullptr) return std::make_unique<no_source>(opened.why_not);
      return std::make_unique<counted_source>(std::move(opened), options.source, options);
    }
  }
}

}  // namespace creek::power::detail
